@echo off
rem make run, make test, make setup, make lint: what the Makefile does, where there is no make.
rem PYTHON=3.12 chooses one of the Pythons that Windows' own launcher knows.
where py >nul 2>nul && goto launcher
python "%~dp0packaging\make.py" %*
exit /b
:launcher
py "%~dp0packaging\make.py" %*
exit /b

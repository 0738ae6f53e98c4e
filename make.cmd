@echo off
rem make run, make test, make setup, make lint: what the Makefile does, where there is no make.
rem PYTHON=3.12 chooses one of the Pythons that Windows' own launcher knows.
setlocal
set "chosen="
for %%a in (%*) do if defined next (set "chosen=%%~a" & set "next=") else if /i "%%~a"=="PYTHON" set "next=1"
if defined chosen goto launcher
for %%v in (3.13 3.12 3.11) do (
  py -%%v -c "" >nul 2>nul && set "chosen=%%v" && goto launcher
)
python "%~dp0packaging\make.py" %*
exit /b %errorlevel%
:launcher
py -%chosen% "%~dp0packaging\make.py" %*
exit /b %errorlevel%

; The installer for Windows: for one user, without an administrator.
;   makensis -DVERSION=0.1.0 -DFOLDER=build\package\dist\headstart -DICON=build\package\icons\headstart.ico packaging\windows\headstart.nsi
Unicode true
!include "MUI2.nsh"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Headstart"
!define KIND "Headstart.Conversation"

Name "Headstart"
OutFile "Headstart-${VERSION}-setup.exe"
InstallDir "$LOCALAPPDATA\Programs\Headstart"
RequestExecutionLevel user
SetCompressor /SOLID lzma
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\Headstart.exe"

!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Section "Headstart"
  SetOutPath "$INSTDIR"
  ; what an older version had and this one has not
  RMDir /r "$INSTDIR\_internal"
  File /r "${FOLDER}\*.*"
  CreateShortcut "$SMPROGRAMS\Headstart.lnk" "$INSTDIR\Headstart.exe"
  WriteRegStr HKCU "Software\Classes\${KIND}" "" "Headstart conversation"
  WriteRegStr HKCU "Software\Classes\${KIND}\DefaultIcon" "" "$INSTDIR\Headstart.exe,0"
  WriteRegStr HKCU "Software\Classes\${KIND}\shell\open\command" "" '"$INSTDIR\Headstart.exe" "%1"'
  ; Windows knows the last part of a name only: .json stays whose it is, and offers this program
  WriteRegStr HKCU "Software\Classes\.json\OpenWithProgids" "${KIND}" ""
  WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${KIND}" ""
  WriteRegStr HKCU "${KEY}" "DisplayName" "Headstart"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\Headstart.exe"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
  WriteUninstaller "$INSTDIR\uninstall.exe"
SectionEnd

; Chats and settings are the user's: they stay in %LOCALAPPDATA%\Headstart.
Section "Uninstall"
  RMDir /r "$INSTDIR\_internal"
  RMDir /r "$INSTDIR\licences"
  Delete "$INSTDIR\Headstart.exe"
  Delete "$INSTDIR\LICENSE"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Headstart.lnk"
  DeleteRegKey HKCU "Software\Classes\${KIND}"
  DeleteRegValue HKCU "Software\Classes\.json\OpenWithProgids" "${KIND}"
  DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${KIND}"
  DeleteRegKey HKCU "${KEY}"
SectionEnd

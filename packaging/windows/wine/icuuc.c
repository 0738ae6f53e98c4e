/* Wine has no ICU. Qt links with it on Windows, asks it for old encodings only, and takes no for an answer. */
#define EXPORTED __declspec(dllexport)
#define NONE(name) EXPORTED long long name(void) { return 0; }
#define REFUSED(name, error) \
    EXPORTED void * name(const char * one, error int * code) { (void) one; if (code) *code = 4; return 0; }
#define NOTHING
REFUSED(ucnv_open, NOTHING)
#define SECOND const char * two,
REFUSED(ucnv_getStandardName, SECOND)
NONE(ucnv_close)
NONE(UCNV_FROM_U_CALLBACK_SUBSTITUTE)
NONE(UCNV_TO_U_CALLBACK_SUBSTITUTE)
NONE(ucnv_reset)
NONE(ucnv_getMaxCharSize)
NONE(ucnv_getName)
NONE(ucnv_getToUCallBack)
NONE(ucnv_setToUCallBack)
NONE(ucnv_getFromUCallBack)
NONE(ucnv_setFromUCallBack)
NONE(ucnv_cbToUWriteUChars)
NONE(ucnv_cbFromUWriteUChars)
NONE(ucnv_toUnicode)
NONE(ucnv_fromUnicode)
NONE(ucnv_toUCountPending)
NONE(ucnv_fromUCountPending)
NONE(ucnv_countAvailable)
NONE(ucnv_getAvailableName)

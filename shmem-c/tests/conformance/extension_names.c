/* pes: 1 3 */
/* since: 1.6 */
/* What shmemx.h has of the names of other libraries. */
#include "extension_names_body.h"

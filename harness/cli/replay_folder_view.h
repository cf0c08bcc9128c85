/* replay_folder_view.h - tsr replay of a folder (run/replay_folder.h). */
#ifndef TESSERA_HARNESS_CLI_REPLAY_FOLDER_VIEW_H
#define TESSERA_HARNESS_CLI_REPLAY_FOLDER_VIEW_H

#include "cli/options.h"

/* The command's exit code. */
int replay_folder_view(const options *o);

#endif

/** Matches JSON messages of VGService.Watch in the output of any client, once the free space has changed. */
export const changedFreeBytes = /"freeBytes": ?"(\d+)"[\s\S]*"freeBytes": ?"(?!\1")\d+"/;

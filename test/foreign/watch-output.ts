/** Matches JSON messages of VGService.Watch, as any client prints them, as soon as the free space has changed. */
export const changedFreeBytes = /"freeBytes": ?"(\d+)"[\s\S]*"freeBytes": ?"(?!\1")\d+"/;

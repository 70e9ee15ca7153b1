/** Services that return volumes. A caller of one of them may see the volumes in the inventory and in events. */
export const volumeServices: readonly string[] = [
  "proto.VGService",
  "proto.LVService",
  "hostplane.v1.VolumeService",
  "csi.v1.Controller",
];

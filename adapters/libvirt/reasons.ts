import { defineReasons } from "../host/define-reasons.ts";
import { libvirtRpcReasons } from "./rpc/reasons.ts";

/** Reasons of libvirt: those of its protocol, and the adapter's own. */
export const libvirtReasons = {
  ...libvirtRpcReasons,
  ...defineReasons({
    STORAGE_VOLUME_IN_USE: {
      code: "ABORTED",
      retryable: true,
      meaning:
        "The volume could not be read or written consistently: a VM that uses it is running, was started or stopped meanwhile, or is being backed up by another client.",
    },
  }),
};

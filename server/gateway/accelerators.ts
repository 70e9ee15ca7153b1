import { createDirectAccelerator } from "../rpc/protocols/direct/accelerator.ts";
import type { CreateAccelerator } from "../rpc/protocols/http/accelerator.ts";

/** Answer some calls faster than connect-es does. Each can be removed from this list, together with its folder. */
export const accelerators: readonly CreateAccelerator[] = [createDirectAccelerator];

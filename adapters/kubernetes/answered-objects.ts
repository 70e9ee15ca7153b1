import { z } from "zod";

/** The part of a Kubernetes object by which it is kept; all other fields are kept as they were sent. */
const object = z.looseObject({
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().optional(),
    resourceVersion: z.string().optional(),
  }),
});

export type KubernetesObject = z.infer<typeof object>;

const list = z.object({
  // Without a version, a watch could not continue from the list.
  metadata: z.object({ resourceVersion: z.string().min(1) }),
  // Go encodes an empty list as null.
  items: z
    .array(object)
    .nullable()
    .transform((items) => items ?? []),
});

/** Validates the reply of an API server as a list; undefined for anything else. */
export function listFromReply(reply: unknown): z.infer<typeof list> | undefined {
  return list.safeParse(reply).data;
}

const watchEvent = z.union([
  z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED"]), object }),
  // Has a version, but no name.
  z.object({
    type: z.literal("BOOKMARK"),
    object: z.object({ metadata: z.object({ resourceVersion: z.string().min(1) }) }),
  }),
]);

export type WatchEvent = z.infer<typeof watchEvent>;

/** Parses a line of a watch; undefined for an error and for anything else that does not continue the watch. */
export function watchEventFromLine(line: string): WatchEvent | undefined {
  try {
    return watchEvent.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

import { z } from "zod";
import { parseReply } from "./parse-reply.ts";

const attributes = z.object({
  name: z.string().default(""),
  image: z.string().default(""),
  podId: z.string().default(""),
  containerExitCode: z.string().default(""),
});

const record = z.object({
  Type: z.string(),
  Action: z.string(),
  Actor: z.object({ ID: z.string().default(""), Attributes: attributes.nullish() }),
  // Unix time; as a number it would not be exact.
  timeNano: z.union([z.bigint(), z.number().int()]).transform(BigInt),
});

/** An event as Podman recorded it. */
export interface EventRecord {
  /** Object type, e.g. `container`, `pod` or `image`, and the event, e.g. `died`. */
  readonly type: string;
  readonly action: string;
  /** Id of the object; empty for some image events. */
  readonly id: string;
  readonly name: string;
  /** Pod of a container; also empty for many containers that have a pod. */
  readonly podId: string;
  /** Undefined if the record has none. */
  readonly exitCode: number | undefined;
  readonly timeNs: bigint;
  /**
   * The same when Podman repeats the record. It does so when its log is rotated during a read, and for `pod stop`, up
   * to three times.
   */
  readonly key: string;
}

/** Parses one line of the reply to `events`. @throws InfraError PODMAN_FAILED */
export function parseEvent(line: string): EventRecord {
  const { Type: type, Action: action, Actor, timeNano: timeNs } = parseReply("events", record, line);
  const { name = "", podId = "", containerExitCode = "" } = Actor.Attributes ?? {};
  return {
    type,
    action,
    id: Actor.ID,
    name,
    podId,
    exitCode: /^-?\d{1,9}$/.test(containerExitCode) ? Number(containerExitCode) : undefined,
    timeNs,
    key: `${timeNs}:${type}:${action}:${Actor.ID}:${name}`,
  };
}

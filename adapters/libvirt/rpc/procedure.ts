import type { Codec } from "./xdr.ts";

/** A set of procedures that share a numbering. */
export interface Program {
  readonly number: number;
  readonly version: number;
}

/** Nearly all procedures of libvirt. */
export const remoteProgram: Program = { number: 0x2000_8086, version: 1 };
/** Procedures of the QEMU driver only: the guest agent. */
export const agentProgram: Program = { number: 0x2000_8087, version: 1 };
/** "keep": keepalives. */
export const keepAliveProgram: Program = { number: 0x6b65_6570, version: 1 };

/** A remote procedure: its number, and the codecs of its arguments and its result. */
export interface Procedure<Args, Result> {
  readonly program: Program;
  readonly number: number;
  readonly args: Codec<Args>;
  readonly result: Codec<Result>;
  /**
   * Whether it may take seconds, because it waits for a process, a disk or a guest. libvirt processes only five calls
   * of one connection at a time, so slow ones have separate connections.
   */
  readonly isSlow: boolean;
}

/** Describes a procedure that libvirt answers from memory. @param number `REMOTE_PROC_*` in remote_protocol.x */
export function procedure<Args, Result>(
  number: number,
  args: Codec<Args>,
  result: Codec<Result>,
): Procedure<Args, Result> {
  return { program: remoteProgram, number, args, result, isSlow: false };
}

/** Describes a procedure that may take seconds. */
export function slow<Args, Result>(
  number: number,
  args: Codec<Args>,
  result: Codec<Result>,
  program: Program = remoteProgram,
): Procedure<Args, Result> {
  return { program, number, args, result, isSlow: true };
}

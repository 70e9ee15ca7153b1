import type { Codec } from "./xdr.ts";

/** A set of procedures that are numbered together. */
export interface Program {
  readonly number: number;
  readonly version: number;
}

/** Nearly all of libvirt. */
export const remoteProgram: Program = { number: 0x2000_8086, version: 1 };
/** What only QEMU has: the guest agent. */
export const agentProgram: Program = { number: 0x2000_8087, version: 1 };
/** "keep": whether the other side is still there. */
export const keepAliveProgram: Program = { number: 0x6b65_6570, version: 1 };

/** What can be called: where it is, and what goes in and comes out. */
export interface Procedure<Args, Result> {
  readonly program: Program;
  readonly number: number;
  readonly args: Codec<Args>;
  readonly result: Codec<Result>;
  /**
   * Whether it may take seconds: it waits for a process, a disk or a guest. libvirt answers only five calls of one
   * connection at a time, so that these have a connection of their own.
   */
  readonly isSlow: boolean;
}

export function procedure<Args, Result>(
  number: number,
  args: Codec<Args>,
  result: Codec<Result>,
): Procedure<Args, Result> {
  return { program: remoteProgram, number, args, result, isSlow: false };
}

/** A procedure that may take seconds. */
export function slow<Args, Result>(
  number: number,
  args: Codec<Args>,
  result: Codec<Result>,
  program: Program = remoteProgram,
): Procedure<Args, Result> {
  return { program, number, args, result, isSlow: true };
}

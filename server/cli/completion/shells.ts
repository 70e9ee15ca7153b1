/** Shells supported by `hostplane completion`. */
export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

/**
 * The hidden command by which completion scripts ask for names: `hostplane __complete NOUN WORD...`. The words are those typed so
 * far; only the flags that select a gateway are read.
 */
export const completeCommand = "__complete";

/** Shells supported by `hostplane completion`. */
export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

/**
 * The word after which the completion scripts ask for names: `hostplane __complete NOUN WORD...`, with the words typed so far, of
 * which the flags that select a gateway count.
 */
export const completeCommand = "__complete";

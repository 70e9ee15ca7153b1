/**
 * A part of a system's state, or a sentence for users that explains why it could not be read. Missing parts have no
 * placeholder.
 */
export type Part<T> = { readonly ok: T } | { readonly missing: string };

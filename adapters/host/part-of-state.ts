/** What could be read, or why it could not, as a sentence for people. Nothing stands in for what is missing. */
export type Part<T> = { readonly ok: T } | { readonly missing: string };

import type { z } from "zod";

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** Settings that a schema accepts, with every default filled in. Names of sizes and times end in their unit. */
export type ConfigOf<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

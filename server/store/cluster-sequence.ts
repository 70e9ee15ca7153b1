import type { TransactionContext } from "./transaction.ts";

const name = "cluster_sequence";

/** The highest number that a machine of a cluster was given; 0: none was. */
export async function readSequence({ db }: TransactionContext): Promise<number> {
  const { value } = await db
    .selectFrom("meta")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return Number(value);
}

/** Has the next machine get a higher number than this one. */
export async function writeSequence({ db }: TransactionContext, sequence: number): Promise<void> {
  await db
    .updateTable("meta")
    .set({ value: String(sequence) })
    .where("name", "=", name)
    .execute();
}

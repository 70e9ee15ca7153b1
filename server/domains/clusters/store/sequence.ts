import type { TransactionContext } from "../../../store/transaction.ts";

const name = "cluster_sequence";

/** Reads the highest sequence number that a machine was given; 0: none was. */
export async function readSequence({ db }: TransactionContext): Promise<number> {
  const { value } = await db
    .selectFrom("meta")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return Number(value);
}

/** Sets the sequence, so that the next machine gets a higher number than this one. */
export async function writeSequence({ db }: TransactionContext, sequence: number): Promise<void> {
  await db
    .updateTable("meta")
    .set({ value: String(sequence) })
    .where("name", "=", name)
    .execute();
}

import { sql } from "kysely";
import type { TransactionContext } from "../../store/transaction.ts";
import type { OperationFilters } from "../operation-filters.ts";

export interface ListQueryOptions {
  readonly filters: OperationFilters;
  /** Operations below this number; undefined: all. */
  readonly belowSeq: number | undefined;
  readonly limit: number;
}

/** Returns the query for a page of operations, newest first. */
export function listQuery(
  { db }: Pick<TransactionContext, "db">,
  { filters, belowSeq, limit }: ListQueryOptions,
) {
  let query = db.selectFrom("operations").selectAll().orderBy("seq", "desc").limit(limit);
  const { states, kind, resource, actor, fromMs, toMs, services } = filters;
  if (belowSeq !== undefined) {
    query = query.where("seq", "<", belowSeq);
  }
  if (states !== undefined) {
    query = query.where("state", "in", states);
  }
  if (kind !== undefined) {
    query = query.where(sql<boolean>`(kind = ${kind} or ${isBelow("kind", kind, ".")})`);
  }
  if (resource !== undefined) {
    // As two selections, for each of which the databases use the index; for one with "or" SQLite reads all operations below `seq`.
    const itself = db.selectFrom("operations").select("seq").where("resource", "=", resource);
    const below = db
      .selectFrom("operations")
      .select("seq")
      .where(isBelow("resource", resource, "/"));
    query = query.where("seq", "in", itself.unionAll(below));
  }
  if (actor !== undefined) {
    query = query.where("actor", "=", actor);
  }
  if (fromMs !== undefined) {
    query = query.where("created_at", ">=", fromMs);
  }
  if (toMs !== undefined) {
    query = query.where("created_at", "<", toMs);
  }
  if (services !== undefined) {
    query = query.where(({ or }) => or(services.map((service) => isBelow("rpc", service, "/"))));
  }
  return query;
}

/** Builds a prefix condition: both databases compare text byte by byte, so that all texts with one prefix are adjacent. */
function isBelow(column: "kind" | "resource" | "rpc", parent: string, separator: "." | "/") {
  const next = separator === "." ? "/" : "0";
  return sql<boolean>`(${sql.ref(column)} >= ${parent + separator} and ${sql.ref(column)} < ${parent + next})`;
}

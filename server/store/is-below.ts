import { sql } from "kysely";

/**
 * Whether a resource is below another, as `volumeGroups/vg0/volumes/data` is below `volumeGroups/vg0`. Texts are compared
 * byte by byte on either database, and `0` is the character after `/`.
 */
export function isBelow(column: string, parent: string) {
  return sql<boolean>`(${sql.ref(column)} >= ${`${parent}/`} and ${sql.ref(column)} < ${`${parent}0`})`;
}

import { sql } from "kysely";

/**
 * Builds a condition for resources below another one, as `volumeGroups/vg0/volumes/data` is below `volumeGroups/vg0`. Both
 * databases compare text byte by byte, and `0` is the character after `/`.
 */
export function isBelow(column: string, parent: string) {
  return sql<boolean>`(${sql.ref(column)} >= ${`${parent}/`} and ${sql.ref(column)} < ${`${parent}0`})`;
}

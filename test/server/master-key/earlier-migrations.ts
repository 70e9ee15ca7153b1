import { migrations as released } from "../../../server/store/migrations/migrations.ts";

/** The migrations of the last version whose secrets did not name their key. */
export const migrations = released.slice(0, 11);

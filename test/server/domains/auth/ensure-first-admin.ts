import {
  type FirstAdmin,
  type FirstAdminOptions,
  prepareFirstAdmin,
} from "../../../../server/domains/auth/first-admin.ts";

/** Creates the first admin at once. The gateway does the rest of its start between the two steps. */
export async function ensureFirstAdmin(options: FirstAdminOptions): Promise<FirstAdmin | undefined> {
  return (await prepareFirstAdmin(options))?.make();
}

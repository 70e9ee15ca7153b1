import { createHostplaneClient, type HostplaneClient } from "../../client/client.ts";
import { adminPassword } from "../server/harness/gateway-under-test.ts";

/** Returns a client of the admin of a gateway under test, to make changes that the page should show. */
export async function clientOf(baseUrl: string): Promise<HostplaneClient> {
  const client = createHostplaneClient({ baseUrl });
  await client.login("admin", adminPassword, { keepLogin: true });
  return client;
}

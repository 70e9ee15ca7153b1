import { createHostplaneClient, type HostplaneClient } from "../../client/client.ts";
import { adminPassword } from "../server/gateway-under-test.ts";

/** The admin of a gateway under test, who does beside the page what the page is to show. */
export async function clientOf(baseUrl: string): Promise<HostplaneClient> {
  const client = createHostplaneClient({ baseUrl });
  await client.login("admin", adminPassword, { keepLogin: true });
  return client;
}

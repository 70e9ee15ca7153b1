import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the password of a real gateway's first admin is, from the first start until the operator removes it. */
export function adminPasswordFile(directory: string): string {
  return join(directory, "admin-password");
}

/** Writes it, mode 0600, so that it would survive a power cut; one that is there is replaced. */
export async function writeAdminPassword(directory: string, password: string): Promise<void> {
  const file = adminPasswordFile(directory);
  const draft = `${file}.draft`;
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${password}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  const parent = await open(directory, "r");
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Returns the file with the password of a real gateway's first admin. It exists until the operator removes it. */
export function adminPasswordFile(directory: string): string {
  return join(directory, "admin-password");
}

/** Writes the file with mode 0600 so that it survives a power failure, replacing an existing one. */
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

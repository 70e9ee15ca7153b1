import { isPlainText, renderYaml } from "./yaml-text.ts";

/** A file of a new machine, which belongs to root. */
export interface NodeFile {
  readonly path: string;
  readonly content: string;
  readonly permissions: "0600" | "0644";
}

/**
 * Writes what cloud-init is to do when a machine starts for the first time. It updates no packages.
 * @param commands each a program and its arguments, which no shell reads; run in order, also when one fails. cloud-init fails
 *   when the last one does
 */
export function renderCloudConfig(
  files: readonly NodeFile[],
  commands: readonly (readonly string[])[],
): string {
  const config = {
    package_update: false,
    package_upgrade: false,
    write_files: files.map(writtenFile),
    runcmd: commands,
  };
  return `#cloud-config\n${renderYaml([config])}`;
}

function writtenFile({ path, content, permissions }: NodeFile) {
  const file = { path, owner: "root:root", permissions };
  return isPlainText(content)
    ? { ...file, content }
    : { ...file, encoding: "b64", content: Buffer.from(content).toString("base64") };
}

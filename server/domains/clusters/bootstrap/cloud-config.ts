import { isPlainText, renderYaml } from "./yaml-text.ts";

/** A file of a new machine, owned by root. */
export interface NodeFile {
  readonly path: string;
  readonly content: string;
  readonly permissions: "0600" | "0644";
}

/**
 * Renders the cloud-init configuration for a machine's first boot. It updates no packages.
 * @param commands each a program and its arguments, not read by a shell. They run in order, even after a failure; cloud-init
 *   fails if the last one does
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

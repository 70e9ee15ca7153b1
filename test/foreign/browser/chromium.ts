import { createHash, X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { type ForeignTool, foreignTool, install, pathOf } from "../foreign-tool.ts";
import { type RunningTool, startTool } from "../tool-process.ts";

const names = ["chromium", "chromium-browser", "google-chrome"];
const isRoot = process.getuid?.() === 0;

/** Finds Chromium, or installs Debian's package if the test may do so. */
export function chromium(): Promise<ForeignTool> {
  return foreignTool("chromium", async () => {
    try {
      return await pathOf(names);
    } catch (missing) {
      if (!isRoot) {
        throw missing;
      }
    }
    await install("apt-get update", "apt-get", ["update", "-qq"]);
    await install(
      "apt-get install chromium",
      "apt-get",
      ["install", "-y", "-qq", "--no-install-recommends", "chromium"],
      { DEBIAN_FRONTEND: "noninteractive" },
    );
    return await pathOf(names);
  });
}

/**
 * Opens a page in a browser with its own profile; both are removed with the test.
 * @param certificate PEM; the browser trusts this certificate in addition to its own
 */
export async function openPage(
  t: Test,
  path: string,
  url: string,
  certificate: Uint8Array,
): Promise<RunningTool> {
  const profile = await mkdtemp(join(tmpdir(), "hostplane-chromium-"));
  const publicKey = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
  const fingerprint = createHash("sha256").update(publicKey).digest("base64");
  // Teardowns run in reverse order: the browser ends before its profile is deleted.
  t.teardown(() => rm(profile, { recursive: true, maxRetries: 5 }));
  return startTool(
    t,
    path,
    [
      ...["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update"],
      ...["--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage"],
      // Chromium's own sandbox does not work as root.
      ...(isRoot ? ["--no-sandbox"] : []),
      `--ignore-certificate-errors-spki-list=${fingerprint}`,
      `--user-data-dir=${profile}`,
      url,
    ],
    { timeoutMs: 60_000 },
  );
}

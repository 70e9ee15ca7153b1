import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";

/** Options for opening a repository. Secrets are not flags, since every user of the host can read those. */
export interface AccessOptions {
  /** A file with lines of NAME=value, read instead of the environment. */
  readonly access?: string;
  /** The repository is encrypted with RESTIC_PASSWORD instead of the gateway's key. */
  readonly ownKey?: boolean;
  /** Connect through the proxies HTTP_PROXY and HTTPS_PROXY. */
  readonly proxy?: boolean;
}

/** Secrets by their field names in the API; empty means not set. */
export interface RepositorySecrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly encryptionKey: string;
  readonly httpProxy: string;
  readonly httpsProxy: string;
}

/**
 * Reads the repository's secrets from a file or the environment, under the names that restic and the AWS tools use.
 * @throws Error when the file cannot be read, or a value required by an option is missing
 */
export async function readRepositorySecrets(
  { access, ownKey = false, proxy = false }: AccessOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RepositorySecrets> {
  const values = access === undefined ? env : parseEnv(await readFile(access, "utf8"));
  const where = access ?? "the environment";
  const textOf = (name: string) => values[name] ?? "";
  const valuesOf = (option: string, isEnabled: boolean, names: readonly string[]) => {
    if (isEnabled && names.every((name) => textOf(name) === "")) {
      throw new Error(`${option} needs ${names.join(" or ")}, which ${where} does not set`);
    }
    return names.map((name) => (isEnabled ? textOf(name) : ""));
  };
  const [encryptionKey = ""] = valuesOf("--own-key", ownKey, ["RESTIC_PASSWORD"]);
  const [httpProxy = "", httpsProxy = ""] = valuesOf("--proxy", proxy, ["HTTP_PROXY", "HTTPS_PROXY"]);
  return {
    accessKeyId: textOf("AWS_ACCESS_KEY_ID"),
    secretAccessKey: textOf("AWS_SECRET_ACCESS_KEY"),
    sessionToken: textOf("AWS_SESSION_TOKEN"),
    encryptionKey,
    httpProxy,
    httpsProxy,
  };
}

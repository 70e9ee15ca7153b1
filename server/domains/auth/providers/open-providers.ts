import { readFile } from "node:fs/promises";
import type { ProviderConfig } from "../../../config/provider-schema.ts";
import { createProvider, type Provider } from "./provider.ts";

/** The configuration of logins by identity providers. */
export interface ProvidersConfig {
  readonly publicUrl?: string | undefined;
  readonly providers: readonly ProviderConfig[];
}

/**
 * Reads the files that the configuration names. Nothing is sent to the providers.
 * @returns the providers by name, in the order of the configuration
 * @throws Error that names the key and the file that cannot be read
 */
export async function openProviders(
  { publicUrl = "", providers }: ProvidersConfig,
  onFailed: (message: string, error: unknown) => void,
): Promise<ReadonlyMap<string, Provider>> {
  const opened = await Promise.all(
    providers.map(async (config, index) => {
      const read = (key: "clientSecretFile" | "caFile") =>
        readNamed(`auth.providers[${index}].${key}`, config[key]);
      const [clientSecret, ca] = await Promise.all([read("clientSecretFile"), read("caFile")]);
      if (clientSecret?.trim() === "") {
        throw new Error(`auth.providers[${index}].clientSecretFile: ${config.clientSecretFile} is empty`);
      }
      return createProvider({
        config,
        clientSecret: clientSecret?.trim(),
        ca,
        publicUrl,
        onAway: (error) =>
          onFailed(
            `the identity provider ${config.name} cannot be used; sessions continue, new logins fail, and further failures are not logged until it answers`,
            error,
          ),
      });
    }),
  );
  return new Map(opened.map((provider) => [provider.name, provider]));
}

async function readNamed(key: string, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) {
    return undefined;
  }
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new Error(`${key}: the file ${file} cannot be read`, { cause });
  }
}

import { InfraError, invalidField } from "../../adapters/host/infra-error.ts";
import type { Repository } from "../../adapters/restic/adapter.ts";
import { assertS3Path, assertSecret, endpointOrigin, proxyUrl } from "../../adapters/restic/names.ts";
import type { RepositoryKeys } from "./repository-keys.ts";
import { localPlace, type RepositoryPlace, type RepositorySecrets } from "./repository-place.ts";

/** What the configuration says of repositories. */
export interface RepositorySettings {
  /** The local repository, for requests that name no endpoint; absent: there is none. */
  readonly repository?: string;
  /** The S3 services that requests may name. */
  readonly allowEndpoints: readonly AllowedEndpoint[];
}

export interface AllowedEndpoint {
  readonly url: string;
  /** Proxies that a request may name for it. */
  readonly proxies: readonly string[];
  /** Whether a request may ask to take any certificate. */
  readonly unverifiedTls: boolean;
}

/** What opens a repository, as requests give it; empty means not given. */
export interface AccessFields {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly encryptionKey: string;
  readonly httpProxy: string;
  readonly httpsProxy: string;
}

/** A repository as proto.DataSource.S3 names it. */
export interface S3Fields extends AccessFields {
  readonly endpoint: string;
  readonly path: string;
  readonly verifyTls: boolean;
}

/** A repository that a request names. */
export interface NamedRepository {
  readonly place: RepositoryPlace;
  /** null: nothing is needed but the gateway's key. */
  readonly secrets: RepositorySecrets | null;
  /** Which backup in it is meant (`select-backup.ts`): what stands behind `#` in `path`. */
  readonly selector: string;
}

/** The repositories that the configuration permits. */
export interface Repositories {
  /**
   * The repository of a request: the S3 one that it names, or the local one when it names no endpoint.
   * @param prefix what stands before the names of the fields, e.g. `backup.data_source.s3.`
   * @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  named(fields: S3Fields | undefined, prefix: string): NamedRepository;
  /**
   * Refuses an owner's key for the local repository, where others and the schedules keep their backups: it is encrypted
   * with the gateway's.
   * @throws InfraError INVALID_FIELD
   */
  assertKeyFits(named: NamedRepository, prefix: string): void;
  /**
   * What a request gives to open a repository that is known.
   * @param isOwnersKey its content is encrypted with a key that the gateway does not have
   * @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  accessTo(
    place: RepositoryPlace,
    fields: AccessFields | undefined,
    isOwnersKey: boolean,
    prefix: string,
  ): RepositorySecrets | null;
  /**
   * All that the tool needs.
   * @param keyName of the gateway's key; null when the secrets have the owner's
   * @throws InfraError ENDPOINT_NOT_ALLOWED, REPOSITORY_KEY_WRONG
   */
  open(
    place: RepositoryPlace,
    secrets: RepositorySecrets | null,
    keyName: string | null,
  ): Promise<Repository>;
}

/** @param configKey where the settings are configured, e.g. `volumes.backup` */
export function createRepositories(
  settings: RepositorySettings,
  keys: RepositoryKeys,
  configKey: string,
): Repositories {
  const endpoints = settings.allowEndpoints.map(({ url, proxies, unverifiedTls }) => ({
    origin: originOf(url),
    proxies: proxies.map(originOf),
    unverifiedTls,
  }));

  /** @throws InfraError ENDPOINT_NOT_ALLOWED */
  function assertAllowed(place: RepositoryPlace, secrets: RepositorySecrets | null): void {
    if (place.kind === "local") {
      return;
    }
    const endpoint = endpoints.find(({ origin }) => origin === place.endpoint);
    if (endpoint === undefined) {
      throw notAllowed(`${place.endpoint} is none of \`${configKey}.allowEndpoints\``);
    }
    if (place.isTlsUnverified && !endpoint.unverifiedTls) {
      throw notAllowed(
        `the certificate of ${place.endpoint} has to be verified: set verify_tls, or have an admin set unverifiedTls in \`${configKey}.allowEndpoints\``,
      );
    }
    for (const proxy of [secrets?.httpProxy, secrets?.httpsProxy]) {
      if (typeof proxy === "string" && !endpoint.proxies.includes(originOf(proxy))) {
        throw notAllowed(
          `${originOf(proxy)} is none of the proxies for ${place.endpoint} in \`${configKey}.allowEndpoints\``,
        );
      }
    }
  }

  function configuredPlace(fields: S3Fields | undefined, path: string, prefix: string): RepositoryPlace {
    const isS3 =
      fields !== undefined && (path !== "" || fields.accessKeyId !== "" || fields.secretAccessKey !== "");
    if (isS3) {
      throw invalidField(
        `${prefix}endpoint`,
        "must be the URL of an S3 service when there is a path or an access key",
      );
    }
    if (settings.repository === undefined) {
      throw invalidField(
        `${prefix}endpoint`,
        `must be the URL of an S3 service, since no local repository is configured (\`${configKey}.repository\`)`,
      );
    }
    return localPlace(settings.repository);
  }

  return {
    named(fields, prefix) {
      const [path = "", ...rest] = (fields?.path ?? "").split("#");
      const selector = rest.join("#");
      const place: RepositoryPlace =
        fields === undefined || fields.endpoint === ""
          ? configuredPlace(fields, path, prefix)
          : s3Place(fields.endpoint, path, fields.verifyTls, prefix);
      const secrets = secretsFrom(place, fields, prefix);
      assertAllowed(place, secrets);
      return { place, secrets, selector };
    },

    assertKeyFits: ({ place, secrets }, prefix) => assertNoLocalKey(place, secrets, prefix),

    accessTo(place, fields, isOwnersKey, prefix) {
      const secrets = secretsFrom(place, fields, prefix);
      assertNoLocalKey(place, secrets, prefix);
      if (isOwnersKey && typeof secrets?.encryptionKey !== "string") {
        throw invalidField(`${prefix}encryption_key`, "must be the key that the backup was made with");
      }
      assertAllowed(place, secrets);
      return secrets;
    },

    async open(place, secrets, keyName) {
      assertAllowed(place, secrets);
      const password = keyName === null ? (secrets?.encryptionKey ?? "") : await keys.open(keyName);
      if (place.kind === "local") {
        return { location: place, password };
      }
      const { accessKeyId, secretAccessKey, sessionToken, httpProxy, httpsProxy } = secrets ?? {};
      return {
        location: { kind: "s3", endpoint: place.endpoint, path: place.path },
        password,
        access: {
          accessKeyId: accessKeyId ?? "",
          secretAccessKey: secretAccessKey ?? "",
          ...(sessionToken ? { sessionToken } : {}),
        },
        ...(httpProxy ? { httpProxy } : {}),
        ...(httpsProxy ? { httpsProxy } : {}),
        isTlsUnverified: place.isTlsUnverified,
      };
    },
  };
}

function s3Place(endpoint: string, path: string, verifyTls: boolean, prefix: string): RepositoryPlace {
  const origin = endpointOrigin(endpoint, `${prefix}endpoint`);
  assertS3Path(path, `${prefix}path`);
  // Without TLS there is nothing to verify.
  const isTlsUnverified = !verifyTls && origin.startsWith("https:");
  return { kind: "s3", endpoint: origin, path, isTlsUnverified };
}

/** @throws InfraError INVALID_FIELD */
function secretsFrom(
  place: RepositoryPlace,
  fields: AccessFields | undefined,
  prefix: string,
): RepositorySecrets | null {
  const secret = (value: string | undefined, field: string, isNeeded: boolean): string | null => {
    if (value === undefined || (value === "" && !isNeeded)) {
      return null;
    }
    assertSecret(value, `${prefix}${field}`);
    return value;
  };
  const encryptionKey = secret(fields?.encryptionKey, "encryption_key", false);
  if (place.kind === "local") {
    const none = {
      accessKeyId: null,
      secretAccessKey: null,
      sessionToken: null,
      httpProxy: null,
      httpsProxy: null,
    };
    return encryptionKey === null ? null : { encryptionKey, ...none };
  }
  const proxy = (value: string | undefined, field: string) =>
    value === undefined || value === "" ? null : proxyUrl(value, `${prefix}${field}`);
  return {
    encryptionKey,
    accessKeyId: secret(fields?.accessKeyId ?? "", "access_key_id", true),
    secretAccessKey: secret(fields?.secretAccessKey ?? "", "secret_access_key", true),
    sessionToken: secret(fields?.sessionToken, "session_token", false),
    httpProxy: proxy(fields?.httpProxy, "http_proxy"),
    httpsProxy: proxy(fields?.httpsProxy, "https_proxy"),
  };
}

function assertNoLocalKey(place: RepositoryPlace, secrets: RepositorySecrets | null, prefix: string): void {
  if (place.kind === "local" && typeof secrets?.encryptionKey === "string") {
    throw invalidField(
      `${prefix}encryption_key`,
      "must be empty: the local repository is encrypted with the gateway's key; a key of your own takes an S3 endpoint",
    );
  }
}

function originOf(url: string): string {
  return new URL(url).origin;
}

function notAllowed(message: string): InfraError {
  return new InfraError("ENDPOINT_NOT_ALLOWED", message);
}

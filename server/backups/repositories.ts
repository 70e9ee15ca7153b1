import { InfraError, invalidField } from "../../adapters/host/infra-error.ts";
import type { Repository } from "../../adapters/restic/adapter.ts";
import { assertS3Path, assertSecret, endpointOrigin, proxyUrl } from "../../adapters/restic/names.ts";
import { backupReasons } from "./reasons.ts";
import type { RepositoryKeys } from "./repository-keys.ts";
import { localPlace, type RepositoryPlace, type RepositorySecrets } from "./repository-place.ts";

/** Repository settings of the configuration. */
export interface RepositorySettings {
  /** Local repository, for requests without an endpoint; absent: there is none. */
  readonly repository?: string;
  /** S3 services that requests may use. */
  readonly allowEndpoints: readonly AllowedEndpoint[];
}

export interface AllowedEndpoint {
  readonly url: string;
  /** Proxies that a request may use for it. */
  readonly proxies: readonly string[];
  /** Whether a request may disable certificate verification. */
  readonly unverifiedTls: boolean;
}

/** Credentials, key and proxies of a request; empty means not given. */
export interface AccessFields {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly encryptionKey: string;
  readonly httpProxy: string;
  readonly httpsProxy: string;
}

/** A repository as specified by proto.DataSource.S3. */
export interface S3Fields extends AccessFields {
  readonly endpoint: string;
  readonly path: string;
  readonly verifyTls: boolean;
}

/** The repository of a request. */
export interface NamedRepository {
  readonly place: RepositoryPlace;
  /** Null: only the gateway's key is needed. */
  readonly secrets: RepositorySecrets | null;
  /** Selects a backup in it (`select-backup.ts`): the part of `path` after `#`. */
  readonly selector: string;
}

/** Access to the repositories that the configuration allows. */
export interface Repositories {
  /**
   * Returns the repository of a request: its S3 repository, or the local one when it has no endpoint.
   * @param prefix prefix of field names in errors, e.g. `backup.data_source.s3.`
   * @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  named(fields: S3Fields | undefined, prefix: string): NamedRepository;
  /**
   * Refuses a user's key for the local repository. It is encrypted with the gateway's key, because the backups of others and of
   * the schedules are in it too.
   * @throws InfraError INVALID_FIELD
   */
  assertKeyFits(named: NamedRepository, prefix: string): void;
  /**
   * Returns the secrets of a request that opens a known repository.
   * @param isOwnersKey whether it is encrypted with a key that the gateway does not have
   * @throws InfraError INVALID_FIELD, ENDPOINT_NOT_ALLOWED
   */
  accessTo(
    place: RepositoryPlace,
    fields: AccessFields | undefined,
    isOwnersKey: boolean,
    prefix: string,
  ): RepositorySecrets | null;
  /**
   * Returns everything that the tool needs to open a repository.
   * @param keyName name of the gateway's key; null when the secrets contain the user's key
   * @throws InfraError ENDPOINT_NOT_ALLOWED, REPOSITORY_KEY_WRONG
   */
  open(
    place: RepositoryPlace,
    secrets: RepositorySecrets | null,
    keyName: string | null,
  ): Promise<Repository>;
}

/** @param configKey configuration key of the settings, e.g. `volumes.backup` */
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
      throw notAllowed(`${place.endpoint} is not in \`${configKey}.allowEndpoints\``);
    }
    if (place.isTlsUnverified && !endpoint.unverifiedTls) {
      throw notAllowed(
        `the certificate of ${place.endpoint} must be verified: set verify_tls, or ask an admin to set unverifiedTls in \`${configKey}.allowEndpoints\``,
      );
    }
    for (const proxy of [secrets?.httpProxy, secrets?.httpsProxy]) {
      if (typeof proxy === "string" && !endpoint.proxies.includes(originOf(proxy))) {
        throw notAllowed(
          `${originOf(proxy)} is not an allowed proxy for ${place.endpoint} in \`${configKey}.allowEndpoints\``,
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
        "must be the URL of an S3 service if a path or an access key is set",
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
        throw invalidField(`${prefix}encryption_key`, "must be the key that the backup was created with");
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
      "must be empty: the local repository is encrypted with the gateway's key; your own key requires an S3 endpoint",
    );
  }
}

function originOf(url: string): string {
  return new URL(url).origin;
}

function notAllowed(message: string): InfraError {
  return new InfraError(backupReasons.ENDPOINT_NOT_ALLOWED, message);
}

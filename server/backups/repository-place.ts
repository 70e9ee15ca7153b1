import { resolve } from "node:path";

/** Location of a backup repository, without secrets. */
export type RepositoryPlace =
  | { readonly kind: "local"; readonly path: string }
  | {
      readonly kind: "s3";
      /** Scheme, host and port of the S3 service. */
      readonly endpoint: string;
      /** Bucket, and a prefix within it. */
      readonly path: string;
      /** Whether any certificate of the endpoint is accepted. */
      readonly isTlsUnverified: boolean;
    };

/** Secrets that open a repository. */
export type RepositorySecrets = {
  /** Null: the gateway's own key is used. */
  readonly encryptionKey: string | null;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
  readonly sessionToken: string | null;
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
};

/** Returns the place of a directory of this host, normalized: `/srv/backup` and `/srv/backup/` are equal. */
export function localPlace(path: string): RepositoryPlace {
  return { kind: "local", path: resolve(path) };
}

/** Returns the place of a recorded backup. */
export function placeOf({ repository_json }: { readonly repository_json: string }): RepositoryPlace {
  return JSON.parse(repository_json) as RepositoryPlace;
}

/** Formats a place: a path, or the URL of an S3 service with bucket and prefix. */
export function describePlace(place: RepositoryPlace): string {
  return place.kind === "local" ? place.path : `${place.endpoint}/${place.path}`;
}

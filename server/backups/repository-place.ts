import { resolve } from "node:path";

/** Where a repository of backups is, as everybody may know it. */
export type RepositoryPlace =
  | { readonly kind: "local"; readonly path: string }
  | {
      readonly kind: "s3";
      /** Scheme, host and port of the S3 service. */
      readonly endpoint: string;
      /** Bucket, and a prefix within it. */
      readonly path: string;
      /** Whatever certificate the endpoint shows is taken. */
      readonly isTlsUnverified: boolean;
    };

/** What opens a repository besides its place. */
export type RepositorySecrets = {
  /** null: the gateway's own key is used. */
  readonly encryptionKey: string | null;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
  readonly sessionToken: string | null;
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
};

/** The place of a directory of this host: the same for `/srv/backup` and `/srv/backup/`. */
export function localPlace(path: string): RepositoryPlace {
  return { kind: "local", path: resolve(path) };
}

/** The place of a backup that is written down. */
export function placeOf({ repository_json }: { readonly repository_json: string }): RepositoryPlace {
  return JSON.parse(repository_json) as RepositoryPlace;
}

/** The place as people write it: a path, or the URL of an S3 service with bucket and prefix. */
export function describePlace(place: RepositoryPlace): string {
  return place.kind === "local" ? place.path : `${place.endpoint}/${place.path}`;
}

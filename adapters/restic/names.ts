import { invalidField } from "../host/infra-error.ts";
import type { Repository } from "./adapter.ts";

// S3 keys have at most 1,024 bytes; restic appends `/data/` with two digits and a hash.
const maxS3PathLength = 900;
const maxSegmentLength = 255;
const maxSecretLength = 4096;
const maxTagLength = 300;

/**
 * Returns the scheme, host and port of an S3 endpoint, for the allowlist and for restic.
 * @param field the request's field, for the violation
 * @throws InfraError INVALID_FIELD unless it is the URL of an http or https server without anything else
 */
export function endpointOrigin(endpoint: string, field: string): string {
  const url = parseHttpUrl(endpoint, field);
  if (url.username !== "" || url.password !== "") {
    throw invalidField(field, "must not contain a user name or password");
  }
  return url.origin;
}

/**
 * Rejects an S3 path other than `bucket/prefix` or `bucket`, with segments of `[a-zA-Z0-9._=@+-]`, none of them `.` or
 * `..`, and a bucket of 3 to 63 characters. So it contains no escapes or delimiters, and cannot lead out of the bucket.
 * @throws InfraError INVALID_FIELD
 */
export function assertS3Path(path: string, field: string): void {
  if (path.length > maxS3PathLength) {
    throw invalidField(field, `must be at most ${maxS3PathLength} characters long, is ${path.length}`);
  }
  const segments = path.split("/");
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,61}[a-zA-Z0-9]$/.test(segments[0] ?? "")) {
    throw invalidField(field, "must begin with the name of a bucket (3 to 63 letters, digits and . _ -)");
  }
  for (const segment of segments) {
    if (segment === "" || segment === "." || segment === "..") {
      throw invalidField(field, 'must be bucket/prefix without empty parts, "." and ".."');
    }
    if (!/^[a-zA-Z0-9._=@+-]+$/.test(segment) || segment.length > maxSegmentLength) {
      const limit = `each at most ${maxSegmentLength} long`;
      throw invalidField(field, `may have segments only of letters, digits and . _ = @ + -, ${limit}`);
    }
  }
}

/**
 * Rejects the path of a local repository unless it is absolute and plain, so that restic cannot mistake its beginning
 * for a scheme.
 * @throws InfraError INVALID_FIELD
 */
export function assertLocalPath(path: string, field: string): void {
  if (!path.startsWith("/")) {
    throw invalidField(field, "must be an absolute path");
  }
  if (hasControlCharacter(path) || path.split("/").includes("..") || Buffer.byteLength(path) > 3000) {
    throw invalidField(field, 'must have at most 3,000 bytes, and no control characters or ".."');
  }
}

/**
 * Normalizes the URL of a proxy for restic; it may contain a user name and password.
 * @throws InfraError INVALID_FIELD unless it is an http or https server
 */
export function proxyUrl(proxy: string, field: string): string {
  return parseHttpUrl(proxy, field).href;
}

/**
 * Rejects a repository that restic could misinterpret; see the functions above. Violations name the fields of the
 * contract's DataSource. An S3 repository needs keys: without them, restic would use the host's own.
 * @param prefix prefix of the fields' names, e.g. `backup.data_source.s3.`
 * @throws InfraError INVALID_FIELD
 */
export function assertRepository(repository: Repository, prefix = ""): void {
  const { location, password, access, httpProxy, httpsProxy } = repository;
  assertSecret(password, `${prefix}encryption_key`);
  if (location.kind === "local") {
    assertLocalPath(location.path, `${prefix}path`);
    return;
  }
  endpointOrigin(location.endpoint, `${prefix}endpoint`);
  assertS3Path(location.path, `${prefix}path`);
  assertSecret(access?.accessKeyId ?? "", `${prefix}access_key_id`);
  assertSecret(access?.secretAccessKey ?? "", `${prefix}secret_access_key`);
  if (access?.sessionToken !== undefined) {
    assertSecret(access.sessionToken, `${prefix}session_token`);
  }
  if (httpProxy !== undefined) {
    proxyUrl(httpProxy, `${prefix}http_proxy`);
  }
  if (httpsProxy !== undefined) {
    proxyUrl(httpsProxy, `${prefix}https_proxy`);
  }
}

/**
 * Rejects values that an environment variable cannot carry: empty ones (restic would read its stdin), control
 * characters, and more than 4,096 characters.
 * @throws InfraError INVALID_FIELD
 */
export function assertSecret(secret: string, field: string): void {
  if (secret === "") {
    throw invalidField(field, "must not be empty");
  }
  if (hasControlCharacter(secret) || secret.length > maxSecretLength) {
    throw invalidField(field, `must have at most ${maxSecretLength} characters, and no control characters`);
  }
}

/**
 * Rejects tags other than 1 to 300 characters of `[a-zA-Z0-9_.:=/+@-]`: restic splits at commas.
 * @throws InfraError INVALID_FIELD
 */
export function assertTags(tags: readonly string[], field: string): void {
  for (const [index, tag] of tags.entries()) {
    if (!/^[a-zA-Z0-9_.:=/+@-]+$/.test(tag) || tag.length > maxTagLength) {
      const words = `must be 1 to ${maxTagLength} letters, digits and _ . : = / + @ -`;
      throw invalidField(`${field}[${index}]`, words);
    }
  }
}

/**
 * Like `assertTags`, but also rejects an empty list, which would include snapshots of other users.
 * @throws InfraError INVALID_FIELD
 */
export function assertSomeTags(tags: readonly string[], field: string): void {
  if (tags.length === 0) {
    throw invalidField(field, "must not be empty");
  }
  assertTags(tags, field);
}

/**
 * Rejects anything but a plain file name, since the file of a snapshot is `/NAME`.
 * @throws InfraError INVALID_FIELD
 */
export function assertFileName(name: string, field: string): void {
  const isPlain = name !== "" && name !== "." && name !== ".." && !name.includes("/");
  if (!isPlain || hasControlCharacter(name) || Buffer.byteLength(name) > maxSegmentLength) {
    throw invalidField(field, "must be a file name of at most 255 bytes, without / and control characters");
  }
}

/**
 * Rejects anything but a snapshot id or at least its first 8 digits, including restic's `latest`.
 * @throws InfraError INVALID_FIELD
 */
export function assertSnapshotId(id: string, field: string): void {
  if (!/^[0-9a-f]{8,64}$/.test(id)) {
    throw invalidField(field, "must be the id of a snapshot: 8 to 64 hexadecimal digits");
  }
}

function parseHttpUrl(text: string, field: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\/[^/\\]/i.test(text)) {
    throw invalidField(field, "must be a URL that begins with http:// or https://");
  }
  if (url.pathname !== "/" || /[?#\\\s]/.test(text) || hasControlCharacter(text)) {
    throw invalidField(field, "must have no path, query, fragment or spaces");
  }
  return url;
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}|\p{Cs}/u.test(text);
}

/**
 * Puts the address of the gateway into an example, instead of the shell's variable GATEWAY. The examples are written for a
 * gateway in cleartext: over TLS, the options for cleartext are removed.
 */
export function withOwnAddress(
  text: string,
  { protocol, host }: Pick<Location, "protocol" | "host">,
): string {
  const addressed = text
    .replace(/^export GATEWAY=.*\n/m, "")
    .replaceAll("http://$GATEWAY", `${protocol}//${host}`)
    .replaceAll("$GATEWAY", addressOfGrpcurl(protocol, host));
  return protocol === "https:"
    ? addressed
        .replace("grpcurl -plaintext", "grpcurl")
        .replace("buf curl --http2-prior-knowledge", "buf curl")
    : addressed;
}

/** Browsers leave out the default port, but grpcurl needs one. */
function addressOfGrpcurl(protocol: string, host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:${protocol === "https:" ? 443 : 80}`;
}

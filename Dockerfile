# The gateway in a container. It listens on loopback unless it is told otherwise, which inside a container is the
# container's own unless that shares the host's network; docker-compose.yml shows both ways.
#
#   docker build -t hostplane .
#   docker run --rm --network host hostplane serve --sandbox
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
# Optional packages are a Node for hosts that have an older one, and native tools the build does not need.
RUN npm ci --omit=optional --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY adapters adapters
COPY gen gen
COPY server server
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOSTPLANE_DATA=/var/lib/hostplane
WORKDIR /opt/hostplane
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules node_modules
COPY --from=build /src/dist dist
COPY bin bin
RUN install -d -o node -g node -m 0700 /var/lib/hostplane
VOLUME /var/lib/hostplane
USER node
# Asks the default listener; a configuration with another one needs its own check.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/opt/hostplane/bin/hostplane.js"]
# Without --sandbox and without a configured system this refuses to start and says what to do.
CMD ["serve"]

#!/bin/sh
# Generates all committed code and descriptor sets from the contract: `npm run gen`.
set -e
cd "$(dirname "$0")/.."
buf generate
buf generate --template proto-lvmd/current/buf.gen.yaml
buf generate --template proto-lvmd/served/buf.gen.yaml
buf build --as-file-descriptor-set --exclude-imports -o gen/contract.binpb
buf build proto-lvmd/current --as-file-descriptor-set -o gen/lvmd/current/contract.binpb
buf generate --template test/conformance/buf.gen.yaml
buf generate --template test/bench/buf.gen.yaml
for era in test/proto-lvmd/eras/*; do
  buf build "$era" --as-file-descriptor-set --exclude-source-info -o "$era/lvmd.binpb"
done

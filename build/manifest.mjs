/**
 * The published package.json: everything is bundled, so it has no dependencies and no install scripts.
 *
 * @param {Record<string, unknown>} manifest the checkout's package.json
 */
export function publishedManifest(manifest) {
  const { scripts, devDependencies, allowScripts, ...published } = manifest
  return published
}

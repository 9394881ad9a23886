// Read by whatever Node the user has, so: no syntax younger than import().

/** The Node releases leasectl runs on: those whose node:sqlite carries SQLite 3.51.3 (WAL-reset bug fixed). */
export var SUPPORTED_NODE = '^22.22.3 || ^24.15.0 || >=26'

/**
 * Why leasectl cannot run on a Node, in words, or undefined if it can.
 *
 * @param {string} version `process.versions.node`
 * @returns {string | undefined}
 */
export function unsupportedNode(version) {
  if (isSupported(version)) return undefined
  return `leasectl needs Node ${SUPPORTED_NODE}; this is Node ${version}`
}

function isSupported(version) {
  var parts = version.split('.').map(Number)
  var major = parts[0]
  if (major === 22) return atLeast(parts, 22, 3)
  if (major === 24) return atLeast(parts, 15, 0)
  return major >= 26
}

function atLeast(parts, minor, patch) {
  return parts[1] > minor || (parts[1] === minor && parts[2] >= patch)
}

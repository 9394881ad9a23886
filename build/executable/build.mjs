import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'

const run = promisify(execFile)

/** Platforms whose executables this build can make. Only Linux is tested. */
const PLATFORMS = ['linux', 'darwin']

/**
 * The reason why this Node cannot become the single executable, or undefined if it can.
 *
 * @returns {string | undefined}
 */
export function cannotBuild() {
  if (!PLATFORMS.includes(process.platform)) return `no executable can be built on ${process.platform} yet`
  if (process.config.variables.node_shared === true) return 'this Node has its code in a shared library'
  if (!process.config.variables.single_executable_application) return 'this Node is built without single executables'
  if (postject() === undefined) return 'the package postject is not installed: run "npm ci"'
  return undefined
}

/**
 * Makes one file of the Node that runs this and of a built program: a single executable application of Node
 * (https://nodejs.org/api/single-executable-applications.html).
 *
 * @param {string} dist folder of the built program
 * @param {string} output path of the executable
 */
export async function buildExecutable(dist, output) {
  const reason = cannotBuild()
  if (reason !== undefined) throw new Error(reason)
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-executable-'))
  try {
    const blob = await preparedBlob(dist, folder)
    const executable = join(folder, 'leasectl')
    await copyFile(process.execPath, executable)
    await chmod(executable, 0o755)
    await withoutSymbols(executable)
    await inject(executable, blob)
    await copyFile(executable, `${output}.new`)
    await rename(`${output}.new`, output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Main script and modules in the form in which Node finds them in its own file. */
async function preparedBlob(dist, folder) {
  const blob = join(folder, 'program.blob')
  const config = {
    main: await mainScript(folder),
    output: blob,
    assets: Object.fromEntries((await modulesOf(dist)).map(name => [name, join(dist, name)])),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  await run(process.execPath, ['--experimental-sea-config', join(folder, 'config.json')])
  return blob
}

/** One CommonJS file, which is all that Node accepts. */
async function mainScript(folder) {
  const input = fileURLToPath(new URL('main.js', import.meta.url))
  const build = await rolldown({ input, platform: 'node' })
  await build.write({ file: join(folder, 'main.cjs'), format: 'cjs' })
  await build.close()
  return join(folder, 'main.cjs')
}

async function modulesOf(dist) {
  const chunks = await readdir(join(dist, 'chunks'))
  return ['cli.js', ...chunks.map(name => `chunks/${name}`)]
}

/** Debugging symbols are a seventh of Node. Without binutils they stay. */
async function withoutSymbols(executable) {
  if (process.platform === 'darwin') await run('codesign', ['--remove-signature', executable])
  else await run('strip', [executable]).catch(ifMissing)
}

function ifMissing(error) {
  if (error.code !== 'ENOENT') throw error
}

async function inject(executable, blob) {
  const mac = process.platform === 'darwin'
  const flags = ['--sentinel-fuse', FUSE, ...(mac ? ['--macho-segment-name', 'NODE_SEA'] : [])]
  await run(process.execPath, [postject(), executable, 'NODE_SEA_BLOB', blob, ...flags])
  if (mac) await run('codesign', ['--sign', '-', executable])
}

/** The mark in Node that says whether a program was injected. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** The program that injects; undefined if it is not installed. */
function postject() {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve('postject'))), 'cli.js')
  } catch {
    return undefined
  }
}

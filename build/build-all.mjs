import { execFile } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.mjs'
import { thirdPartyNotices } from './notices.mjs'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const DIST = `${ROOT}dist`

/**
 * Builds dist/: the program, the library, its declarations and the licences of bundled packages. A failed build keeps the
 * previous dist/.
 *
 * @returns {Promise<string>} a one-line summary
 */
export async function buildAll() {
  const startMs = Date.now()
  const staging = `${DIST}.${process.pid}`
  try {
    const bundled = writeBundle(staging)
    const declared = writeDeclarations(staging)
    // if one fails, the other must not keep writing into the removed folder
    await Promise.allSettled([bundled, declared])
    const [chunks] = await Promise.all([bundled, declared])
    await rm(DIST, { recursive: true, force: true })
    await rename(staging, DIST)
    return summary(chunks, Date.now() - startMs)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function writeBundle(folder) {
  const chunks = await bundle(ROOT)
  for (const chunk of chunks) {
    const file = `${folder}/${chunk.fileName}`
    await mkdir(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    await writeFile(file, chunk.code)
  }
  const moduleIds = chunks.flatMap(chunk => chunk.moduleIds)
  await writeFile(`${folder}/THIRD-PARTY-NOTICES.txt`, await thirdPartyNotices(moduleIds))
  return chunks
}

async function writeDeclarations(folder) {
  const tsc = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(/package\.json$/, 'bin/tsc')
  const args = [tsc, '-p', `${ROOT}tsconfig.build.json`, '--outDir', `${folder}/types`]
  await promisify(execFile)(process.execPath, args).catch(error => {
    throw new Error(`tsc could not write the declarations:\n${error.stdout}${error.stderr}`)
  })
}

function summary(chunks, tookMs) {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.code.length, 0)
  return `built dist: ${chunks.length} chunks, ${(bytes / 1e6).toFixed(1)} MB, in ${(tookMs / 1000).toFixed(1)} s`
}

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Messages that do not concern exports. */
const PASSED_OVER = new Set(['console-compiler-version-notice', 'ae-missing-release-tag', 'ae-unresolved-link'])

/**
 * The exports of the library, from declarations generated for this purpose.
 *
 * @param {string} root folder with `src/index.ts` and `tsconfig.build.json`
 * @returns {Promise<{ exports: any[], faults: string[] }>} the symbols in the model of API Extractor; faults: types in a
 * public signature that are not exported, exports without a doc comment, unreadable comments
 */
export async function extractApi(root = ROOT) {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-api-'))
  try {
    await writeDeclarations(root, folder)
    const faults = extract(folder)
    const { members } = JSON.parse(await readFile(join(folder, 'api.json'), 'utf8'))
    const exports = members[0].members
    return { exports, faults: [...faults, ...withoutComment(exports)].sort() }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeDeclarations(root, folder) {
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  await writeFile(join(folder, 'package.json'), '{ "name": "leasectl", "version": "0.0.0", "type": "module" }')
  const tsc = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(/package\.json$/, 'bin/tsc')
  const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'types')]
  await promisify(execFile)(process.execPath, args)
}

function extract(folder) {
  const entry = join(folder, 'types/index.d.ts')
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: entry,
      compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [entry] } },
      docModel: { enabled: true, apiJsonFilePath: join(folder, 'api.json') },
      messages: { compilerMessageReporting: WARN, extractorMessageReporting: WARN, tsdocMessageReporting: WARN },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
  })
  const faults = []
  const messageCallback = message => {
    message.handled = true
    const { messageId, logLevel, text, sourceFilePath } = message
    if (PASSED_OVER.has(messageId) || (logLevel !== 'warning' && logLevel !== 'error')) return
    faults.push(`${sourceFilePath?.slice(folder.length + 1) ?? ''}: ${text}`)
  }
  Extractor.invoke(config, { localBuild: true, messageCallback })
  return faults
}

const WARN = { default: { logLevel: 'warning' } }

const COMPILER = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  strict: true,
}

function withoutComment(exports) {
  return exports.filter(({ docComment }) => docComment === '').map(({ name }) => `${name} has no doc comment`)
}

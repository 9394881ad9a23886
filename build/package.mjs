// `npm run package` makes in out/ what is installed: the npm tarball, and the single executable for this platform with its
// licences, man page and completion scripts.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DIST, ROOT } from './build-all.mjs'
import { buildExecutable, cannotBuild } from './executable/build.mjs'

const OUT = join(ROOT, 'out')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const name = `leasectl-${version}-${process.platform}-${process.arch}`
const completions = { bash: 'leasectl.bash', zsh: '_leasectl', fish: 'leasectl.fish' }

rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT)
// npm builds dist/ before it packs.
execFileSync('npm', ['pack', '--pack-destination', OUT, '--silent'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'inherit'],
})
const reason =
  cannotBuild() ?? (nodeLicence() === undefined ? 'the licence of Node is missing: run "npm ci"' : undefined)
if (reason === undefined) await packExecutable(join(OUT, name))
writeSums()
if (reason !== undefined) {
  console.error(`error: no executable was made: ${reason}`)
  process.exitCode = 1
}

async function packExecutable(folder) {
  mkdirSync(join(folder, 'completions'), { recursive: true })
  const executable = join(folder, 'leasectl')
  await buildExecutable(DIST, executable)
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(DIST, 'THIRD-PARTY-NOTICES.txt'), join(folder, 'THIRD-PARTY-NOTICES.txt'))
  copyFileSync(nodeLicence(), join(folder, 'NODE-LICENSE.txt'))
  copyFileSync(join(ROOT, 'docs/man/leasectl.1'), join(folder, 'leasectl.1'))
  for (const [shell, file] of Object.entries(completions)) {
    writeFileSync(join(folder, 'completions', file), execFileSync(executable, ['completion', shell]))
  }
  execFileSync('tar', ['-czf', `${folder}.tar.gz`, '-C', OUT, name])
}

/** Node's licence asks for being passed on with it. The package `node` installs it with the program. */
function nodeLicence() {
  const packages = join(ROOT, 'node_modules/node/node_modules')
  const folders = [...packagesIn(packages), dirname(dirname(process.execPath))]
  return folders.map(folder => join(folder, 'LICENSE')).find(file => existsSync(file))
}

function packagesIn(folder) {
  return existsSync(folder) ? readdirSync(folder).map(entry => join(folder, entry)) : []
}

/** SHA256SUMS, for `sha256sum -c`, and a line for each file. */
function writeSums() {
  const files = readdirSync(OUT).filter(file => file.endsWith('gz'))
  const sums = files.map(file => {
    const sum = createHash('sha256')
      .update(readFileSync(join(OUT, file)))
      .digest('hex')
    return `${sum}  ${file}\n`
  })
  writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''))
  for (const file of files) {
    console.log(`${(statSync(join(OUT, file)).size / 1e6).toFixed(1).padStart(6)} MB  out/${file}`)
  }
}

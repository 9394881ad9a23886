// `npm pack` packs the checkout, whose package.json has scripts and devDependencies that users do not need. Editing
// package.json for the pack could leave it changed, so a clean package is staged elsewhere and packed over npm's tarball.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { publishedManifest } from './manifest.mjs'

const { npm_command, npm_config_dry_run, npm_config_pack_destination = '.', INIT_CWD = '.' } = process.env
if (npm_command === 'pack' && npm_config_dry_run !== 'true') repack(resolve(INIT_CWD, npm_config_pack_destination))

function repack(destination) {
  const manifest = publishedManifest(JSON.parse(readFileSync('package.json', 'utf8')))
  const staged = mkdtempSync(join(tmpdir(), 'leasectl-pack-'))
  try {
    stage(manifest, staged)
    const args = ['pack', staged, '--pack-destination', destination, '--ignore-scripts', '--silent']
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
  report(join(destination, `${manifest.name}-${manifest.version}.tgz`))
}

function stage(manifest, folder) {
  const present = manifest.files.filter(path => existsSync(path))
  for (const path of present) cpSync(path, join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

// npm then prints the size and integrity of its own tarball.
function report(tarball) {
  const digest = createHash('sha512').update(readFileSync(tarball)).digest('base64')
  console.error(`repacked without scripts and devDependencies; the tarball's integrity is sha512-${digest}`)
}

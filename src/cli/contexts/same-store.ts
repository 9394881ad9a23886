import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseAddress } from '../../store/address.ts'
import type { Contexts } from './contexts.ts'

/** Whether a protected context has this store, however either of them writes its address. */
export function isProtectedStore(address: string, { byName }: Contexts): boolean {
  const guarded = [...byName.values()].filter(context => context.isProtected)
  if (guarded.length === 0) return false
  const identity = identityOf(address)
  return guarded.some(({ store }) => identityOf(store) === identity)
}

/**
 * Equal for addresses that lead to the same streams. Accounts are told apart by name alone: those of Azure are unique,
 * however their endpoint is reached. In doubt two are the same, since this decides what is protected.
 */
function identityOf(address: string): string {
  const parsed = parseAddress(address)
  switch (parsed.kind) {
    case 'memory':
      return 'memory:'
    case 'sqlite':
      return `sqlite:${fileIdentity(resolve(parsed.path))}`
    case 'azurite':
      return `azurite://${isLoopback(parsed.host) ? 'localhost' : parsed.host}:${parsed.port}/${parsed.container}`
    case 'azure':
      return `azure:${parsed.account}/${parsed.container}`
    default:
      return parsed satisfies never
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.startsWith('127.') || host === '[::1]'
}

/** A file is one however it is reached, by hard links and mounts too; one that is not there yet is its path. */
function fileIdentity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined || found.ino === 0n ? realPath(path) : `${found.dev}:${found.ino}`
}

/** With links followed as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}

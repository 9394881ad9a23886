import { closeSync, fsyncSync, mkdirSync, openSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing, for their owner only, and has their names on the disk: SQLite
 * syncs what lies in the folder, but not that there is one. One after the other: `recursive` never ends where a file
 * system takes no folders at all, as /proc does.
 */
export function createFolder(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) createFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error
  }
  try {
    syncFolder(parent)
  } catch (error) {
    // Who tries again must not take it for one that lasts.
    removeEmpty(path)
    throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Faults of the disk. Others say that folders cannot be synced here: by this user, or on this system at all. */
const FAULTS: readonly unknown[] = ['EIO', 'ENOSPC', 'EDQUOT']

function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && FAULTS.includes(error.code)) throw error
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Another process uses it already.
  }
}

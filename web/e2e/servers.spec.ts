// The servers of a home: one alone, then the owner and a follower of a home in PostgreSQL.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { checkAccessibility, defineScenes, Stage } from './harness';
import { Postgres } from './postgres';

const postgres = await Postgres.start();
let follower: Stage | null = null;
afterAll(async () => {
  await follower?.close();
  await postgres.stop();
});

const scene = defineScenes({});

scene('the only server of a home is shown', async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/servers`);
  await page.getByText('One server on one machine').waitFor();
  await page.getByText('adjutant home import').waitFor();
  await checkAccessibility(page);
});

scene('owner, follower and standby of a home in PostgreSQL are shown', { noise: [/ERR_CONNECTION_REFUSED/, /Failed to fetch/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /503/, /ERR_EMPTY_RESPONSE/, /ERR_CONNECTION_RESET/] }, async ({ page, stage }) => {
  await page.goto('about:blank');
  await stage.stop();
  await stage.cli('home', 'import', 'shop', '--database', postgres.address);
  await stage.start();
  await page.goto(`${stage.url}/settings/servers`);
  await page.getByRole('cell', { name: 'Owner', exact: true }).waitFor();
  await page.getByText('No other server follows.').waitFor();
  await page.getByRole('heading', { name: 'Standby of PostgreSQL: none' }).waitFor();
  await checkAccessibility(page);

  follower = await Stage.open({ variables: { ADJUTANT_TOKEN: stage.token } });
  await follower.stop();
  await copyFile(join(stage.home, 'config.yaml'), join(follower.home, 'config.yaml'));
  await follower.start();
  const row = page.getByRole('row').filter({ hasText: follower.url });
  await row.getByText('Has every commit').waitFor();
  await row.getByRole('cell', { name: 'Follows', exact: true }).waitFor();
  await checkAccessibility(page);
});

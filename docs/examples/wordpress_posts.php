<?php
/*
 * Takes the texts of a WordPress site out into files, for apply_links.py, and writes back what that has changed.
 *
 *     php wordpress_posts.php dump FOLDER      one file a post or page: FOLDER/2026/11/tents/index.html
 *     php wordpress_posts.php write FOLDER     the files that differ from what was dumped, into their posts
 *     php wordpress_posts.php undo FOLDER      what was dumped, into the posts that have what was written
 *
 * Run it in the folder of wp-load.php. With WP-CLI: wp eval-file wordpress_posts.php dump FOLDER.
 * FOLDER/.before keeps the texts as they were. A post that somebody has changed since is left as it is, and named. Both
 * texts of a post that is written are among its revisions, where the site keeps these.
 */
[$step, $folder] = array_values($args ?? array_slice($argv, 1)) + ['', ''];
if (!in_array($step, ['dump', 'write', 'undo'], true) || $folder === '') {
    fwrite(STDERR, "wordpress_posts.php dump|write|undo FOLDER\n");
    exit(2);
}
if (!defined('ABSPATH')) {
    require getcwd() . '/wp-load.php';
}
if (!get_option('permalink_structure')) {
    fwrite(STDERR, "The site's permalinks are plain: its posts have no addresses that a file could be named by.\n");
    exit(1);
}
kses_remove_filters();  // nobody is signed in here, and WordPress would take frames and forms out of the texts
$counts = ['written' => 0, 'left' => 0];
$types = array_diff(get_post_types(['public' => true]), ['attachment']);
$posts = get_posts(['post_type' => $types, 'post_status' => 'publish', 'numberposts' => -1, 'fields' => 'ids']);
foreach ($posts as $id) {
    $path = rawurldecode(trim(parse_url(get_permalink($id), PHP_URL_PATH) ?? '', '/'));
    if (in_array('..', explode('/', $path), true)) {
        continue;
    }
    $file = rtrim("$folder/$path", '/') . '/index.html';
    $before = rtrim("$folder/.before/$path", '/') . '/index.html';
    $text = get_post($id)->post_content;
    if ($step === 'dump') {
        foreach ([$file, $before] as $one) {
            wp_mkdir_p(dirname($one));
            file_put_contents($one, $text);
        }
        $counts['written']++;
        continue;
    }
    if (!is_file($file) || !is_file($before)) {
        continue;
    }
    [$old, $new] = [file_get_contents($before), file_get_contents($file)];
    if ($step === 'undo') {
        [$old, $new] = [$new, $old];
    }
    if ($old === $new || $text === $new) {
        continue;
    }
    if ($text !== $old) {
        fwrite(STDERR, get_permalink($id) . ": changed since, and left as it is\n");
        $counts['left']++;
        continue;
    }
    wp_save_post_revision($id);
    wp_update_post(['ID' => $id, 'post_content' => wp_slash($new)]);
    $counts['written']++;
}
echo "{$counts['written']} " . ($step === 'dump' ? 'files written' : 'posts written, ' . "{$counts['left']} left") . "\n";
exit($counts['left'] ? 1 : 0);

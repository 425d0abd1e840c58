<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr_FR" sourcelanguage="en">
<context>
    <name>Format</name>
    <message>
        <source>%1 B</source>
        <translation>%1 o</translation>
    </message>
    <message>
        <source>%1 KiB</source>
        <translation>%1 Kio</translation>
    </message>
    <message>
        <source>%1 MiB</source>
        <translation>%1 Mio</translation>
    </message>
    <message>
        <source>%1 GiB</source>
        <translation>%1 Gio</translation>
    </message>
    <message>
        <source>%1 TiB</source>
        <translation>%1 Tio</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 B</source>
        <comment>billion parameters, beside the model&apos;s name</comment>
        <translation>%1 Md</translation>
    </message>
    <message>
        <source>%1 M</source>
        <comment>million parameters, beside the model&apos;s name</comment>
        <translation>%1 M</translation>
    </message>
    <message>
        <source>%1 K</source>
        <comment>thousand parameters, beside the model&apos;s name</comment>
        <translation>%1 k</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Simulated GPU %1</source>
        <translation>GPU simulé %1</translation>
    </message>
    <message>
        <source>Everything on the GPU</source>
        <translation>Tout sur le GPU</translation>
    </message>
    <message>
        <source>Towers on the CPU</source>
        <translation>Tours sur le CPU</translation>
    </message>
    <message>
        <source>Per-layer embeddings on the CPU</source>
        <translation>Plongements par couche sur le CPU</translation>
    </message>
    <message>
        <source>Towers and per-layer embeddings on the CPU</source>
        <translation>Tours et plongements par couche sur le CPU</translation>
    </message>
    <message>
        <source>Everything on the CPU</source>
        <translation>Tout sur le CPU</translation>
    </message>
    <message>
        <source>Best fit</source>
        <translation>Au mieux</translation>
    </message>
    <message>
        <source>Own layout</source>
        <translation>Placement personnel</translation>
    </message>
    <message>
        <source>As stored</source>
        <translation>Tels quels</translation>
    </message>
    <message>
        <source>%1 bits (%2)</source>
        <translation>%1 bits (%2)</translation>
    </message>
    <message>
        <source>%1 bits (%2, double quantization)</source>
        <translation>%1 bits (%2, double quantification)</translation>
    </message>
    <message>
        <source>Experts on the CPU</source>
        <translation>Experts sur le CPU</translation>
    </message>
    <message>
        <source>%1, experts too</source>
        <translation>%1, experts compris</translation>
    </message>
</context>
<context>
    <name>QAbstractSpinBox</name>
    <message>
        <source>&amp;Select All</source>
        <translation>Tout &amp;sélectionner</translation>
    </message>
    <message>
        <source>&amp;Step up</source>
        <translation>&amp;Augmenter</translation>
    </message>
    <message>
        <source>Step &amp;down</source>
        <translation>&amp;Diminuer</translation>
    </message>
</context>
<context>
    <name>QFileDialog</name>
    <message>
        <source>Look in:</source>
        <translation>Chercher dans :</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Précédent</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Revenir en arrière</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>Suivant</translation>
    </message>
    <message>
        <source>Go forward</source>
        <translation>Aller en avant</translation>
    </message>
    <message>
        <source>Parent Directory</source>
        <translation>Dossier parent</translation>
    </message>
    <message>
        <source>Go to the parent directory</source>
        <translation>Aller au dossier parent</translation>
    </message>
    <message>
        <source>Create New Folder</source>
        <translation>Nouveau dossier</translation>
    </message>
    <message>
        <source>Create a New Folder</source>
        <translation>Créer un dossier</translation>
    </message>
    <message>
        <source>List View</source>
        <translation>Liste</translation>
    </message>
    <message>
        <source>Change to list view mode</source>
        <translation>Afficher en liste</translation>
    </message>
    <message>
        <source>Detail View</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Change to detail view mode</source>
        <translation>Afficher les détails</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>Emplacements</translation>
    </message>
    <message>
        <source>List of places and bookmarks</source>
        <translation>Emplacements et signets</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Fichiers</translation>
    </message>
    <message>
        <source>Files of type:</source>
        <translation>Fichiers de type :</translation>
    </message>
    <message>
        <source>File &amp;name:</source>
        <translation>&amp;Nom du fichier :</translation>
    </message>
    <message>
        <source>Directory:</source>
        <translation>Dossier :</translation>
    </message>
    <message>
        <source>Directories</source>
        <translation>Dossiers</translation>
    </message>
    <message>
        <source>Find Directory</source>
        <translation>Chercher un dossier</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Save As</source>
        <translation>Enregistrer sous</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>&amp;Ouvrir</translation>
    </message>
    <message>
        <source>&amp;Choose</source>
        <translation>&amp;Choisir</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Enregistrer</translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <translation>&amp;Renommer</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Supprimer</translation>
    </message>
    <message>
        <source>Show &amp;hidden files</source>
        <translation>Afficher les fichiers &amp;cachés</translation>
    </message>
    <message>
        <source>&amp;New Folder</source>
        <translation>&amp;Nouveau dossier</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>Nouveau dossier</translation>
    </message>
    <message>
        <source>All Files (*)</source>
        <translation>Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Recent Places</source>
        <translation>Emplacements récents</translation>
    </message>
    <message>
        <source>My Computer</source>
        <translation>Mon ordinateur</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Retirer</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Are you sure you want to delete &apos;%1&apos;?</source>
        <translation>Faut-il vraiment supprimer « %1 » ?</translation>
    </message>
    <message>
        <source>Could not delete directory.</source>
        <translation>Le dossier n’a pas pu être supprimé.</translation>
    </message>
    <message>
        <source>%1
Directory not found.
Please verify the correct directory name was given.</source>
        <translation>%1
Ce dossier n’existe pas.
Vérifiez son nom.</translation>
    </message>
    <message>
        <source>%1
File not found.
Please verify the correct file name was given.</source>
        <translation>%1
Ce fichier n’existe pas.
Vérifiez son nom.</translation>
    </message>
    <message>
        <source>%1 already exists.
Do you want to replace it?</source>
        <translation>%1 existe déjà.
Faut-il le remplacer ?</translation>
    </message>
</context>
<context>
    <name>QFileSystemModel</name>
    <message>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Taille</translation>
    </message>
    <message>
        <source>Date Modified</source>
        <translation>Modifié le</translation>
    </message>
    <message>
        <source>My Computer</source>
        <translation>Mon ordinateur</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>Ordinateur</translation>
    </message>
    <message>
        <source>Type</source>
        <comment>All other platforms</comment>
        <translation>Type</translation>
    </message>
</context>
<context>
    <name>QKeySequenceEdit</name>
    <message>
        <source>Press shortcut</source>
        <translation>Appuyez sur les touches</translation>
    </message>
</context>
<context>
    <name>QLineEdit</name>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Annuler</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Rétablir</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>Co&amp;uper</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Copier</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>C&amp;oller</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>Tout sélectionner</translation>
    </message>
</context>
<context>
    <name>QPlatformTheme</name>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>&amp;Yes</source>
        <translation>&amp;Oui</translation>
    </message>
    <message>
        <source>&amp;No</source>
        <translation>&amp;Non</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Abandonner</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Appliquer</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Réinitialiser</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Aide</translation>
    </message>
</context>
<context>
    <name>QScrollBar</name>
    <message>
        <source>Scroll here</source>
        <translation>Défiler jusqu’ici</translation>
    </message>
    <message>
        <source>Top</source>
        <translation>Début</translation>
    </message>
    <message>
        <source>Bottom</source>
        <translation>Fin</translation>
    </message>
    <message>
        <source>Left edge</source>
        <translation>Bord gauche</translation>
    </message>
    <message>
        <source>Right edge</source>
        <translation>Bord droit</translation>
    </message>
    <message>
        <source>Page up</source>
        <translation>Page précédente</translation>
    </message>
    <message>
        <source>Page down</source>
        <translation>Page suivante</translation>
    </message>
    <message>
        <source>Page left</source>
        <translation>Page à gauche</translation>
    </message>
    <message>
        <source>Page right</source>
        <translation>Page à droite</translation>
    </message>
    <message>
        <source>Scroll up</source>
        <translation>Vers le haut</translation>
    </message>
    <message>
        <source>Scroll down</source>
        <translation>Vers le bas</translation>
    </message>
    <message>
        <source>Scroll left</source>
        <translation>Vers la gauche</translation>
    </message>
    <message>
        <source>Scroll right</source>
        <translation>Vers la droite</translation>
    </message>
</context>
<context>
    <name>QShortcut</name>
    <message>
        <source>Ctrl</source>
        <translation>Ctrl</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Maj</translation>
    </message>
    <message>
        <source>Alt</source>
        <translation>Alt</translation>
    </message>
    <message>
        <source>Meta</source>
        <translation>Meta</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Espace</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Échap</translation>
    </message>
    <message>
        <source>Tab</source>
        <translation>Tab</translation>
    </message>
    <message>
        <source>Backtab</source>
        <translation>Tab arrière</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Retour arrière</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Entrée (pavé)</translation>
    </message>
    <message>
        <source>Ins</source>
        <translation>Inser</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Suppr</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Print</source>
        <translation>Impr</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Début</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Fin</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>Gauche</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>Haut</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Droite</translation>
    </message>
    <message>
        <source>Down</source>
        <translation>Bas</translation>
    </message>
    <message>
        <source>PgUp</source>
        <translation>Page préc.</translation>
    </message>
    <message>
        <source>PgDown</source>
        <translation>Page suiv.</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menu</translation>
    </message>
    <message>
        <source>F%1</source>
        <translation>F%1</translation>
    </message>
</context>
<context>
    <name>QWidgetTextControl</name>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Annuler</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>&amp;Rétablir</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <translation>Co&amp;uper</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Copier</translation>
    </message>
    <message>
        <source>Copy &amp;Link Location</source>
        <translation>Copier l’adresse du &amp;lien</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <translation>C&amp;oller</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>Tout sélectionner</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Window</source>
        <translation>Fenêtre</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Discussion</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>Placement</translation>
    </message>
    <message>
        <source>Choose a model folder</source>
        <translation>Choisir un dossier de modèle</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modèles et options de chargement</translation>
    </message>
    <message>
        <source>Load the chosen model</source>
        <translation>Charger le modèle choisi</translation>
    </message>
    <message>
        <source>Eject the model</source>
        <translation>Éjecter le modèle</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chercher dans les discussions</translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation>Envoyer le message</translation>
    </message>
    <message>
        <source>New line in the message</source>
        <translation>Nouvelle ligne dans le message</translation>
    </message>
    <message>
        <source>Attach a picture or a sound</source>
        <translation>Joindre une image ou un son</translation>
    </message>
    <message>
        <source>Stop the reply or the load</source>
        <translation>Arrêter la réponse ou le chargement</translation>
    </message>
    <message>
        <source>Regenerate the last reply</source>
        <translation>Régénérer la dernière réponse</translation>
    </message>
    <message>
        <source>Delete the chat (can be undone)</source>
        <translation>Supprimer la discussion (réversible)</translation>
    </message>
    <message>
        <source>Show the chat</source>
        <translation>Montrer la discussion</translation>
    </message>
    <message>
        <source>Show the layout</source>
        <translation>Montrer le placement</translation>
    </message>
    <message>
        <source>Show both side by side</source>
        <translation>Montrer les deux côte à côte</translation>
    </message>
    <message>
        <source>Show or hide the list of chats</source>
        <translation>Montrer ou masquer la liste</translation>
    </message>
    <message>
        <source>Show or hide the memory meter</source>
        <translation>Montrer ou masquer la mémoire</translation>
    </message>
    <message>
        <source>Go from block to block</source>
        <translation>Aller de bloc en bloc</translation>
    </message>
    <message>
        <source>Apply the layout</source>
        <translation>Appliquer le placement</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Rétablir</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Texte plus grand</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Texte plus petit</translation>
    </message>
    <message>
        <source>Normal text size</source>
        <translation>Taille de texte normale</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Réglages</translation>
    </message>
    <message>
        <source>Log and report</source>
        <translation>Journal et rapport</translation>
    </message>
    <message>
        <source>Close Belfry</source>
        <translation>Fermer Belfry</translation>
    </message>
    <message>
        <source>Continue a reply that was cut short</source>
        <translation>Continuer une réponse interrompue</translation>
    </message>
    <message>
        <source>Show the version before of a message</source>
        <translation>Afficher la version précédente d’un message</translation>
    </message>
    <message>
        <source>Show the version after of a message</source>
        <translation>Afficher la version suivante d’un message</translation>
    </message>
    <message>
        <source>Copy the last code block</source>
        <translation>Copier le dernier bloc de code</translation>
    </message>
    <message>
        <source>Keys that also type text need Ctrl or Alt.</source>
        <translation>Les touches qui écrivent du texte demandent Ctrl ou Alt.</translation>
    </message>
    <message>
        <source>%1 is needed for editing text.</source>
        <translation>%1 sert à modifier du texte.</translation>
    </message>
    <message>
        <source>%1 always means: %2</source>
        <translation>%1 signifie toujours : %2</translation>
    </message>
    <message>
        <source>Record from the microphone, again to use it</source>
        <translation>Enregistrer au micro, à nouveau pour utiliser</translation>
    </message>
    <message>
        <source>Play or pause the sound in focus</source>
        <translation>Lire ou suspendre le son sélectionné</translation>
    </message>
    <message>
        <source>Five seconds forward or back in the sound in focus</source>
        <translation>Cinq secondes en avant ou en arrière dans le son sélectionné</translation>
    </message>
    <message>
        <source>Send after the running reply</source>
        <translation>Envoyer après la réponse en cours</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Raccourcis clavier</translation>
    </message>
    <message>
        <source>Pick the block up to move it</source>
        <translation>Saisir le bloc pour le déplacer</translation>
    </message>
    <message>
        <source>Choose the device for it: by an arrow, or the first to the ninth</source>
        <translation>Choisir l’appareil : avec une flèche, ou du premier au neuvième</translation>
    </message>
    <message>
        <source>Put it down there</source>
        <translation>Le poser là</translation>
    </message>
    <message>
        <source>Leave it where it was</source>
        <translation>Le laisser à sa place</translation>
    </message>
    <message>
        <source>Split a block of layers</source>
        <translation>Couper un bloc de couches</translation>
    </message>
    <message>
        <source>Join it with its neighbour</source>
        <translation>Le réunir avec son voisin</translation>
    </message>
    <message>
        <source>Menu of the block</source>
        <translation>Menu du bloc</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Cet ordinateur</translation>
    </message>
    <message>
        <source>Library of models</source>
        <translation>Bibliothèque de modèles</translation>
    </message>
    <message>
        <source>Get a model</source>
        <translation>Obtenir un modèle</translation>
    </message>
    <message>
        <source>Find in the chat</source>
        <translation>Rechercher dans la discussion</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Résultat suivant</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Résultat précédent</translation>
    </message>
    <message>
        <source>Edit the message, or rename the chat in the list</source>
        <translation>Modifier le message, ou renommer la discussion dans la liste</translation>
    </message>
    <message>
        <source>Draw what fits</source>
        <translation>Dessiner ce qui tient</translation>
    </message>
</context>
<context>
    <name>app::AttachmentFiles</name>
    <message>
        <source>%1 cannot be read (%2), so the chat keeps only its name. Attach it again if the model needs it.</source>
        <translation>%1 est illisible (%2), la discussion n&apos;en garde que le nom. Joignez-le à nouveau si le modèle en a besoin.</translation>
    </message>
    <message>
        <source>%1 cannot be read to its end (%2).</source>
        <translation>%1 ne peut pas être lu jusqu&apos;au bout (%2).</translation>
    </message>
    <message>
        <source>The disk that holds %1 is full: an attachment could not be copied there. Free some space; the chat refers to the original file until then.</source>
        <translation>Le disque qui contient %1 est plein : une pièce jointe n&apos;a pas pu y être copiée. Libérez de la place ; d&apos;ici là, la discussion renvoie au fichier d&apos;origine.</translation>
    </message>
    <message>
        <source>An attachment could not be copied to %1 (%2). Make the folder writable; the chat refers to the original file until then.</source>
        <translation>Une pièce jointe n&apos;a pas pu être copiée dans %1 (%2). Rendez le dossier accessible en écriture ; d&apos;ici là, la discussion renvoie au fichier d&apos;origine.</translation>
    </message>
    <message>
        <source>%1 has more than %2 MiB, so the chat keeps only its name. Attach a smaller file.</source>
        <translation>%1 dépasse %2 Mio : la discussion n’en garde que le nom. Joignez un fichier plus petit.</translation>
    </message>
</context>
<context>
    <name>app::CardWatch</name>
    <message>
        <source>The graphics driver does not answer yet</source>
        <translation>Le pilote graphique ne répond pas encore</translation>
    </message>
    <message>
        <source>Belfry waits up to %1 s for it, then goes on with the processor. Layouts and loading wait as well.</source>
        <translation>Belfry l’attend %1 s au plus, puis continue avec le processeur. Les répartitions et le chargement attendent aussi.</translation>
    </message>
    <message>
        <source>The graphics card is not used</source>
        <translation>La carte graphique n’est pas utilisée</translation>
    </message>
</context>
<context>
    <name>app::ChatDatabase</name>
    <message>
        <source>The folder %1 belongs to another user, so chats are not saved. Make it yours (chown).</source>
        <translation>Le dossier %1 appartient à un autre utilisateur, les conversations ne sont donc pas enregistrées. Appropriez-vous-le (chown).</translation>
    </message>
    <message>
        <source>The log of the latest changes is damaged, so that some of them may be missing.</source>
        <translation>Le journal des dernières modifications est endommagé : certaines peuvent manquer.</translation>
    </message>
    <message>
        <source>its log goes on behind a place that cannot be read</source>
        <translation>son journal continue après un endroit illisible</translation>
    </message>
    <message>
        <source>it is empty, and its log is not</source>
        <translation>il est vide, mais son journal ne l&apos;est pas</translation>
    </message>
    <message>
        <source>The log with the latest changes of the chats was damaged. File and log were kept as %1 and %1-wal; %2 chats could be read from them and are in the list again.</source>
        <translation>Le journal des dernières modifications des conversations était endommagé. Fichier et journal sont conservés sous %1 et %1-wal ; %2 conversations ont pu y être lues et figurent de nouveau dans la liste.</translation>
    </message>
    <message>
        <source>None of them is pinned any more.</source>
        <translation>Aucune n’est plus épinglée.</translation>
    </message>
    <message>
        <source>Turns are missing or damaged in %1 of them.</source>
        <translation>Dans %1 d&apos;entre elles, des messages manquent ou sont endommagés.</translation>
    </message>
    <message>
        <source>This turn was damaged on the disk, so that not all of it is as it was written.</source>
        <translation>Ce message a été endommagé sur le disque : il n&apos;est pas entièrement tel qu&apos;il a été écrit.</translation>
    </message>
    <message>
        <source>The file with the chats was damaged. It was kept as %1; what could be read from it is in the list again.</source>
        <translation>Le fichier des conversations était endommagé. Il est conservé sous %1 ; ce qui a pu y être lu figure de nouveau dans la liste.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be created, so chats are not saved. Create it or make its parent folder writable.</source>
        <translation>Le dossier %1 ne peut pas être créé, les discussions ne sont donc pas enregistrées. Créez-le ou rendez le dossier parent accessible en écriture.</translation>
    </message>
    <message>
        <source>%1 is damaged (%2).</source>
        <translation>%1 est endommagé (%2).</translation>
    </message>
    <message>
        <source>%1 was written by a later version of Belfry (its form is number %2, this program knows number %3), so chats are not saved. Start the later version, or move the file away.</source>
        <translation>%1 vient d&apos;une version plus récente de Belfry (forme %2, ce programme connaît %3), les discussions ne sont donc pas enregistrées. Lancez la version récente ou déplacez le fichier.</translation>
    </message>
    <message>
        <source>The file with the chats was damaged. It was kept as %1; %2 chats could be read from it and are in the list again.</source>
        <translation>Le fichier des discussions était endommagé. Il a été gardé sous %1 ; %2 discussions ont pu en être lues et sont de retour dans la liste.</translation>
    </message>
    <message>
        <source>Chats cannot be saved in %1. Make the folder writable; what is not saved yet is kept in memory and saved then.</source>
        <translation>Les discussions ne peuvent pas être enregistrées dans %1. Rendez le dossier accessible en écriture ; le reste attend en mémoire.</translation>
    </message>
    <message>
        <source>There is no chat %1 any more. It may have been deleted in an earlier session.</source>
        <translation>La discussion %1 n&apos;existe plus. Elle a pu être supprimée dans une session précédente.</translation>
    </message>
    <message>
        <source>The file with the chats was replaced while Belfry was running: %1. What is saved from now on goes into the new one.</source>
        <translation>Le fichier des discussions a été remplacé pendant que Belfry tournait : %1. Ce qui est enregistré désormais va dans le nouveau.</translation>
    </message>
    <message>
        <source>The file with the chats was deleted or moved while Belfry was running. They were written to %1 again; pictures and sounds that are gone with their folder keep their names.</source>
        <translation>Le fichier des discussions a été supprimé ou déplacé pendant que Belfry tournait. Elles ont été réécrites dans %1 ; des images et des sons disparus avec leur dossier, il reste les noms.</translation>
    </message>
    <message>
        <source>The file with the chats was deleted or moved while Belfry was running. A new one was begun, %1: the open chat is saved there.</source>
        <translation>Le fichier des discussions a été supprimé ou déplacé pendant que Belfry tournait. Un nouveau a été commencé, %1 : la discussion ouverte y est enregistrée.</translation>
    </message>
</context>
<context>
    <name>app::Database</name>
    <message>
        <source>The disk that holds %1 is full. Free some space; what is not saved yet is kept in memory and saved then.</source>
        <translation>Le disque qui contient %1 est plein. Libérez de la place ; le reste attend en mémoire.</translation>
    </message>
    <message>
        <source>%1 cannot be written (%2). Make the file and its folder writable; what is not saved yet is kept in memory and saved then.</source>
        <translation>%1 ne peut pas être écrit (%2). Rendez le fichier et son dossier accessibles en écriture ; le reste attend en mémoire.</translation>
    </message>
    <message>
        <source>%1 is in use by another program, probably a second Belfry. Close that one; what is not saved yet is kept in memory and saved then.</source>
        <translation>%1 est utilisé par un autre programme, sans doute un second Belfry. Fermez-le ; le reste attend en mémoire.</translation>
    </message>
    <message>
        <source>%1 is damaged (%2).</source>
        <translation>%1 est endommagé (%2).</translation>
    </message>
    <message>
        <source>%1 could not be read or written (%2). Check the disk; what is not saved yet is kept in memory.</source>
        <translation>%1 n&apos;a pas pu être lu ou écrit (%2). Vérifiez le disque ; le reste attend en mémoire.</translation>
    </message>
    <message>
        <source>no memory</source>
        <translation>aucune mémoire</translation>
    </message>
    <message>
        <source>write-protected</source>
        <translation>protégé en écriture</translation>
    </message>
    <message>
        <source>it is not open</source>
        <translation>elle n&apos;est pas ouverte</translation>
    </message>
</context>
<context>
    <name>app::ExportFiles</name>
    <message>
        <source>the folder cannot be created</source>
        <translation>le dossier ne peut pas être créé</translation>
    </message>
    <message>
        <source>%1 was not imported: %2</source>
        <translation>%1 n’a pas été importé : %2</translation>
    </message>
    <message>
        <source>it cannot be read (%1).</source>
        <translation>le fichier est illisible (%1).</translation>
    </message>
    <message>
        <source>it is not JSON (%1, at byte %2). Choose a file that Belfry exported as JSON.</source>
        <translation>ce n’est pas du JSON (%1, à l’octet %2). Choisissez un fichier que Belfry a exporté en JSON.</translation>
    </message>
    <message>
        <source>it holds more than %1 messages and attachments; no exported chat is as large.</source>
        <translation>il contient plus de %1 messages et pièces jointes ; aucune discussion exportée n’est aussi grande.</translation>
    </message>
    <message>
        <source>it holds no chat of Belfry (“format” is “%1”, expected “belfry-chat”, version 1, with turns). Choose a file that Belfry exported as JSON.</source>
        <translation>il ne contient pas de discussion de Belfry (« format » est « %1 », attendu : « belfry-chat », version 1, avec des messages). Choisissez un fichier que Belfry a exporté en JSON.</translation>
    </message>
    <message>
        <source>%1 could not be written (%2). Choose another place.</source>
        <translation>%1 n&apos;a pas pu être écrit (%2). Choisissez un autre endroit.</translation>
    </message>
    <message>
        <source>what is there is not a file</source>
        <translation>ce qui s’y trouve n’est pas un fichier</translation>
    </message>
    <message>
        <source>Left out of the imported chat, only their names stay: %1; and %2 more.</source>
        <translation>Laissés hors de la discussion importée, seuls les noms restent : %1 ; et %2 autres.</translation>
    </message>
    <message>
        <source>Left out of the imported chat, only the name stays: %1.</source>
        <translation>Laissé hors de la discussion importée, seul le nom reste : %1.</translation>
    </message>
    <message>
        <source>it is no picture or sound that Belfry reads</source>
        <translation>ni une image ni un son que Belfry lit</translation>
    </message>
    <message>
        <source>together they have more than %1 MiB</source>
        <translation>plus de %1 Mio au total</translation>
    </message>
    <message>
        <source>it has more than %1 MiB; no exported chat is as large.</source>
        <translation>il dépasse %1 Mio ; aucune discussion exportée n’est aussi grande.</translation>
    </message>
</context>
<context>
    <name>app::PlainFile</name>
    <message>
        <source>it is no regular file</source>
        <translation>pas un fichier ordinaire</translation>
    </message>
    <message>
        <source>it is a link or lies behind one</source>
        <translation>un lien, ou derrière un lien</translation>
    </message>
    <message>
        <source>it does not lie beside the chat</source>
        <translation>n’est pas à côté de la discussion</translation>
    </message>
</context>
<context>
    <name>app::Profiles</name>
    <message>
        <source>The profile %1 was imported</source>
        <translation>Le profil %1 a été importé</translation>
    </message>
    <message>
        <source>The profile was exported</source>
        <translation>Le profil a été exporté</translation>
    </message>
    <message>
        <source>The profile was not read or written</source>
        <translation>Le profil n’a pas été lu ou écrit</translation>
    </message>
</context>
<context>
    <name>app::Program</name>
    <message>
        <source>Belfry is running already, but its window does not answer.</source>
        <translation>Belfry tourne déjà, mais sa fenêtre ne répond pas.</translation>
    </message>
    <message>
        <source>Wait until it does, or end the process %1 and start again.</source>
        <translation>Attendez qu’elle réponde, ou terminez le processus %1 et relancez.</translation>
    </message>
    <message>
        <source>Wait until it does, or end it and start again.</source>
        <translation>Attendez qu’elle réponde, ou terminez-le et relancez.</translation>
    </message>
</context>
<context>
    <name>app::ServerLink</name>
    <message>
        <source>The key was not kept: it is used until Belfry ends</source>
        <translation>La clé n&apos;a pas été conservée : elle sert jusqu&apos;à la fin de Belfry</translation>
    </message>
    <message>
        <source>The key is still kept</source>
        <translation>La clé est encore conservée</translation>
    </message>
</context>
<context>
    <name>app::SessionFile</name>
    <message>
        <source>%1 could not be written (%2), so the open chat is not remembered. Make the folder writable.</source>
        <translation>%1 n&apos;a pas pu être écrit (%2), la discussion ouverte n&apos;est donc pas retenue. Rendez le dossier accessible en écriture.</translation>
    </message>
</context>
<context>
    <name>app::Wiring</name>
    <message>
        <source>The change was not kept</source>
        <translation>Le changement n&apos;a pas été gardé</translation>
    </message>
    <message>
        <source>Exported</source>
        <translation>Exporté</translation>
    </message>
    <message>
        <source>%1 was not written</source>
        <translation>%1 n&apos;a pas été écrit</translation>
    </message>
    <message>
        <source>The chat could not be opened</source>
        <translation>La discussion n&apos;a pas pu être ouverte</translation>
    </message>
    <message>
        <source>Belfry ended unexpectedly while it was loading %1</source>
        <translation>Belfry s&apos;est arrêté de façon inattendue en chargeant %1</translation>
    </message>
    <message>
        <source>It was not loaded again. Your chats are as they were.</source>
        <translation>Il n&apos;a pas été rechargé. Vos discussions sont intactes.</translation>
    </message>
    <message>
        <source>Choose it again</source>
        <translation>Le choisir de nouveau</translation>
    </message>
    <message>
        <source>Belfry ended unexpectedly last time</source>
        <translation>Belfry s&apos;est arrêté de façon inattendue la dernière fois</translation>
    </message>
    <message>
        <source>Imported</source>
        <translation>Importé</translation>
    </message>
    <message>
        <source>The chat was not imported</source>
        <translation>La discussion n’a pas été importée</translation>
    </message>
    <message>
        <source>Your chats are as they were. The log may tell why: %1</source>
        <translation>Vos discussions sont intactes. La raison figure peut-être ici : %1</translation>
    </message>
    <message>
        <source>Log and report</source>
        <translation>Journal et rapport</translation>
    </message>
    <message>
        <source>%1 on %2 answered last time</source>
        <translation>La dernière fois, %1 sur %2 a répondu</translation>
    </message>
    <message>
        <source>Nothing was asked of it since Belfry started.</source>
        <translation>Rien ne lui a été demandé depuis le démarrage de Belfry.</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Se connecter</translation>
    </message>
    <message>
        <source>The engine ended and was started again</source>
        <translation>Le moteur s’est arrêté et a été relancé</translation>
    </message>
    <message>
        <source>The model is loaded again, to the same places. The chat is as it was.</source>
        <translation>Le modèle est rechargé, aux mêmes emplacements. La discussion est restée telle quelle.</translation>
    </message>
</context>
<context>
    <name>ui::AboutDialog</name>
    <message>
        <source>About Belfry</source>
        <translation>À propos de Belfry</translation>
    </message>
    <message>
        <source>Belfry %1</source>
        <translation>Belfry %1</translation>
    </message>
    <message>
        <source>Chat with multimodal models on your own hardware, each part of the model on the device that you choose.</source>
        <translation>Discuter avec des modèles multimodaux sur votre propre matériel, chaque partie du modèle sur l’appareil de votre choix.</translation>
    </message>
    <message>
        <source>Built from sources without a commit, with Qt %1.</source>
        <translation>Compilé à partir de sources sans commit, avec Qt %1.</translation>
    </message>
    <message>
        <source>Built from commit %1, with Qt %2.</source>
        <translation>Compilé à partir du commit %1, avec Qt %2.</translation>
    </message>
    <message>
        <source>Belfry: Apache License 2.0. Qt, libsndfile and soxr: LGPL.</source>
        <translation>Belfry : licence Apache 2.0. Qt, libsndfile et soxr : LGPL.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
</context>
<context>
    <name>ui::AdapterBar</name>
    <message>
        <source>Adapters</source>
        <translation>Adaptateurs</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adaptateur</translation>
    </message>
    <message>
        <source>Add an adapter</source>
        <translation>Ajouter un adaptateur</translation>
    </message>
    <message>
        <source>Add a LoRA adapter, a PEFT folder or a GGUF file, or drop one into the window</source>
        <translation>Ajouter un adaptateur LoRA, dossier PEFT ou fichier GGUF, ou le déposer dans la fenêtre</translation>
    </message>
    <message>
        <source>%1 adapters</source>
        <translation>%1 adaptateurs</translation>
    </message>
    <message>
        <source>%1 of %2 adapters</source>
        <translation>%1 adaptateurs sur %2</translation>
    </message>
    <message>
        <source>%1, off</source>
        <translation>%1, désactivé</translation>
    </message>
    <message>
        <source>1 adapter</source>
        <translation>1 adaptateur</translation>
    </message>
</context>
<context>
    <name>ui::AdapterChip</name>
    <message>
        <source>Strength %1 of 2</source>
        <translation>Force %1 sur 2</translation>
    </message>
    <message>
        <source>Adapter %1</source>
        <translation>Adaptateur %1</translation>
    </message>
    <message>
        <source>Use adapter %1</source>
        <translation>Utiliser l&apos;adaptateur %1</translation>
    </message>
    <message>
        <source>Switch the adapter off for the next reply</source>
        <translation>Désactiver l&apos;adaptateur pour la prochaine réponse</translation>
    </message>
    <message>
        <source>Switch the adapter on for the next reply</source>
        <translation>Activer l&apos;adaptateur pour la prochaine réponse</translation>
    </message>
    <message>
        <source>Strength of adapter %1</source>
        <translation>Force de l&apos;adaptateur %1</translation>
    </message>
    <message>
        <source>Strength, 0 to 2; acts on the next reply without loading again</source>
        <translation>Force, de 0 à 2 ; agit à la prochaine réponse sans recharger</translation>
    </message>
    <message>
        <source>Remove adapter %1</source>
        <translation>Retirer l&apos;adaptateur %1</translation>
    </message>
    <message>
        <source>Remove the adapter</source>
        <translation>Retirer l&apos;adaptateur</translation>
    </message>
    <message>
        <source>Coverage of adapter %1 is being read</source>
        <translation>La couverture de l&apos;adaptateur %1 est en cours de lecture</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>Coverage of adapter %1: %2 of %3 tensors</source>
        <translation>Couverture de l&apos;adaptateur %1 : %2 tenseurs sur %3</translation>
    </message>
    <message>
        <source>Some tensors have no place in this model. Open the report.</source>
        <translation>Certains tenseurs n&apos;ont pas de place dans ce modèle. Ouvrir le rapport.</translation>
    </message>
    <message>
        <source>Every tensor has its place. Open the coverage report.</source>
        <translation>Chaque tenseur a sa place. Ouvrir le rapport de couverture.</translation>
    </message>
</context>
<context>
    <name>ui::AdapterList</name>
    <message>
        <source>Adapters</source>
        <translation>Adaptateurs</translation>
    </message>
</context>
<context>
    <name>ui::AttachmentChip</name>
    <message>
        <source>Remove %1</source>
        <translation>Retirer %1</translation>
    </message>
    <message>
        <source>measuring…</source>
        <translation>mesure…</translation>
    </message>
    <message>
        <source>vision on %1</source>
        <translation>vision sur %1</translation>
    </message>
    <message>
        <source>audio on %1</source>
        <translation>audio sur %1</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>environ %1</translation>
    </message>
    <message>
        <source>Picture %1: %2</source>
        <translation>Image %1 : %2</translation>
    </message>
    <message>
        <source>Sound %1: %2</source>
        <translation>Son %1 : %2</translation>
    </message>
    <message>
        <source>Choose a part</source>
        <translation>Choisir une partie</translation>
    </message>
    <message>
        <source>Choose the part of %1 that is used</source>
        <translation>Choisir la partie de %1 à utiliser</translation>
    </message>
    <message>
        <source>Use the first %1</source>
        <translation>Utiliser les %1 premières</translation>
    </message>
    <message>
        <source>%1 to %2 of %3</source>
        <translation>de %1 à %2 sur %3</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>de %1 à %2</translation>
    </message>
    <message>
        <source>%1 is %2 long, and the model hears at most %3 at a time. Choose which part.</source>
        <translation>%1 dure %2, et le modèle entend au plus %3 à la fois. Choisissez quelle partie.</translation>
    </message>
    <message>
        <source>Enter shows the picture large</source>
        <translation>Entrée affiche l’image en grand</translation>
    </message>
</context>
<context>
    <name>ui::BlockSentence</name>
    <message>
        <source>moving it there saves %1 of VRAM</source>
        <translation>l’y déplacer économise %1 de VRAM</translation>
    </message>
    <message>
        <source>that keeps %1 of VRAM free</source>
        <translation>cela garde %1 de VRAM libres</translation>
    </message>
    <message>
        <source>a look-up table; one row of it is read per token, so it is as good in main memory: %1.</source>
        <translation>une table de consultation ; une ligne en est lue par jeton, elle est donc aussi bien en mémoire centrale : %1.</translation>
    </message>
    <message>
        <source>a look-up table; one row of %1 is read per token, so it is as good in main memory: %2.</source>
        <translation>une table de consultation ; une ligne de %1 en est lue par jeton, elle est donc aussi bien en mémoire centrale : %2.</translation>
    </message>
    <message>
        <source>turns a picture into tokens before the reply; text alone never uses it.</source>
        <translation>transforme une image en jetons avant la réponse ; le texte seul ne s’en sert jamais.</translation>
    </message>
    <message>
        <source>turns a sound into tokens before the reply; text alone never uses it.</source>
        <translation>transforme un son en jetons avant la réponse ; le texte seul ne s’en sert jamais.</translation>
    </message>
    <message>
        <source>Here a picture takes about %1.</source>
        <translation>Ici, une image prend environ %1.</translation>
    </message>
    <message>
        <source>Here 10 s of sound take about %1.</source>
        <translation>Ici, 10 s de son prennent environ %1.</translation>
    </message>
    <message>
        <source>On the CPU it is slower and saves %1 of VRAM.</source>
        <translation>Sur le CPU, elle est plus lente et économise %1 de VRAM.</translation>
    </message>
    <message>
        <source>On a card it is faster and takes %1 of VRAM.</source>
        <translation>Sur une carte, elle est plus rapide et prend %1 de VRAM.</translation>
    </message>
    <message>
        <source>specialists, of which each token uses a few; the others only wait, so main memory serves them well: %1.</source>
        <translation>des spécialistes dont chaque jeton n’utilise que quelques-uns ; les autres attendent, la mémoire centrale leur convient donc : %1.</translation>
    </message>
    <message>
        <source>specialists, of which each token uses %1 of %2: %3 are read per token, the rest waits, so main memory serves them well: %4.</source>
        <translation>des spécialistes dont chaque jeton utilise %1 sur %2 : %3 sont lus par jeton, le reste attend, la mémoire centrale leur convient donc : %4.</translation>
    </message>
    <message>
        <source>the model itself, one layer after the other. Every token reads all %1 of them, so they are fastest where memory is fastest.</source>
        <translation>le modèle lui-même, une couche après l’autre. Chaque jeton en lit la totalité, %1 : elles sont donc les plus rapides là où la mémoire l’est.</translation>
    </message>
    <message>
        <source>hands what the vision tower saw to the layers; small (%1), and best where the tower is.</source>
        <translation>transmet aux couches ce que la tour de vision a vu ; petit (%1), et le mieux placé près de la tour.</translation>
    </message>
    <message>
        <source>hands what the audio tower heard to the layers; small (%1), and best where the tower is.</source>
        <translation>transmet aux couches ce que la tour audio a entendu ; petit (%1), et le mieux placé près de la tour.</translation>
    </message>
    <message>
        <source>the list of words, for reading and for writing. Each token looks up one row and is chosen by reading all %1, so it belongs where the last layers are.</source>
        <translation>la liste des mots, pour lire et pour écrire. Chaque jeton y consulte une ligne et est choisi en lisant la totalité, %1 : sa place est près des dernières couches.</translation>
    </message>
    <message>
        <source>chooses the next word out of all. Each token reads all %1 of it, so it belongs where the last layers are.</source>
        <translation>choisit le mot suivant parmi tous. Chaque jeton en lit la totalité, %1 : sa place est près des dernières couches.</translation>
    </message>
    <message>
        <source>a small model that guesses the next tokens for the large one to check. Each guess reads all %1 of it, so it is fastest on the card.</source>
        <translation>un petit modèle qui devine les jetons suivants, que le grand vérifie. Chaque essai en lit la totalité, %1 : il est le plus rapide sur la carte.</translation>
    </message>
    <message>
        <source>small pieces (%1) between the others, used for every token; best where the layers are.</source>
        <translation>de petites pièces (%1) entre les autres, utilisées pour chaque jeton ; le mieux près des couches.</translation>
    </message>
    <message>
        <source>attention memory: what the model keeps of the chat, %1 for %2 tokens. Each token reads what is filled of it; a shorter context takes less.</source>
        <translation>mémoire d’attention : ce que le modèle garde de la conversation, %1 pour %2 jetons. Chaque jeton lit ce qui en est rempli ; un contexte plus court prend moins.</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>name of a block, then what it is</comment>
        <translation>%1 : %2</translation>
    </message>
</context>
<context>
    <name>ui::BlockWidget</name>
    <message>
        <source>M moves it, S splits, J joins, arrow keys go to other blocks</source>
        <translation>M déplace, S sépare, J joint, les flèches vont aux autres blocs</translation>
    </message>
    <message>
        <source>Split into %1 – %2 and %3 – %4</source>
        <translation>Séparer en %1 – %2 et %3 – %4</translation>
    </message>
</context>
<context>
    <name>ui::Budget</name>
    <message>
        <source>Almost full</source>
        <translation>Presque pleine</translation>
    </message>
    <message>
        <source>Belfry has %1 of the %2 that the system gives it here. What comes on top lies in main memory and is many times slower.</source>
        <translation>Belfry occupe %1 sur les %2 que le système lui accorde ici. Le surplus va en mémoire centrale et devient beaucoup plus lent.</translation>
    </message>
    <message>
        <source>%1 spilled into main memory</source>
        <translation>%1 débordés en mémoire centrale</translation>
    </message>
    <message>
        <source>The system gives Belfry %1 here and has moved the rest. Replies are many times slower until it is back.</source>
        <translation>Le système accorde %1 à Belfry ici et a déplacé le reste. Les réponses sont beaucoup plus lentes tant qu’il n’est pas revenu.</translation>
    </message>
    <message>
        <source>No move of parts ends it: choose a smaller format or context.</source>
        <translation>Aucun déplacement n’y suffit : choisissez un format ou un contexte plus petit.</translation>
    </message>
    <message>
        <source>This ends it:</source>
        <translation>Ceci y met fin :</translation>
    </message>
    <message>
        <source>This helps, and is not enough:</source>
        <translation>Ceci aide, sans suffire :</translation>
    </message>
    <message>
        <source>%1: frees %2</source>
        <translation>%1 : libère %2</translation>
    </message>
</context>
<context>
    <name>ui::ChatExport</name>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n jeton</numerusform>
            <numerusform>%n jetons</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 jetons/s</translation>
    </message>
    <message>
        <source>first token after %1 s</source>
        <translation>1er jeton après %1 s</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>graine %1</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>arrêtée</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>interrompue</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>contexte plein</translation>
    </message>
    <message>
        <source>length limit</source>
        <translation>limite de longueur</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>échec</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Vous</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Left out of the context</source>
        <translation>Hors du contexte</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Réflexion</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Discussion</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Consigne système</translation>
    </message>
</context>
<context>
    <name>ui::ChatModel</name>
    <message>
        <source>You</source>
        <translation>Vous</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>picture %1</source>
        <translation>image %1</translation>
    </message>
    <message>
        <source>sound %1</source>
        <translation>son %1</translation>
    </message>
    <message>
        <source>version %1 of %2</source>
        <translation>version %1 sur %2</translation>
    </message>
</context>
<context>
    <name>ui::ChatNotice</name>
    <message>
        <source>Notice</source>
        <translation>Avis</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>Fermer cet avis</translation>
    </message>
</context>
<context>
    <name>ui::ChatSettings</name>
    <message>
        <source>Model default</source>
        <translation>Réglage du modèle</translation>
    </message>
    <message>
        <source>Exact (always the likeliest word)</source>
        <translation>Exact (toujours le mot le plus probable)</translation>
    </message>
    <message>
        <source>Calm</source>
        <translation>Calme</translation>
    </message>
    <message>
        <source>Lively</source>
        <translation>Vif</translation>
    </message>
    <message>
        <source>summarise</source>
        <translation>resumer</translation>
    </message>
    <message>
        <source>Summarise this in five short points:

</source>
        <translation>Résume cela en cinq points courts :

</translation>
    </message>
    <message>
        <source>explain</source>
        <translation>expliquer</translation>
    </message>
    <message>
        <source>Explain this step by step to somebody new to the subject:

</source>
        <translation>Explique cela pas à pas à quelqu&apos;un qui découvre le sujet :

</translation>
    </message>
    <message>
        <source>describe</source>
        <translation>decrire</translation>
    </message>
    <message>
        <source>Describe this picture in detail.</source>
        <translation>Décris cette image en détail.</translation>
    </message>
    <message>
        <source>transcribe</source>
        <translation>transcrire</translation>
    </message>
    <message>
        <source>Write down word for word what is said in this recording.</source>
        <translation>Écris mot pour mot ce qui est dit dans cet enregistrement.</translation>
    </message>
    <message>
        <source>review</source>
        <translation>relire</translation>
    </message>
    <message>
        <source>Review this code. Name mistakes first, then what could be simpler:

</source>
        <translation>Relis ce code. Nomme d&apos;abord les erreurs, puis ce qui pourrait être plus simple :

</translation>
    </message>
</context>
<context>
    <name>ui::ChatView</name>
    <message>
        <source>System prompt</source>
        <translation>Consigne système</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Tirage</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparer</translation>
    </message>
    <message>
        <source>Ask the last question again, without and with adapters, side by side</source>
        <translation>Poser de nouveau la dernière question, sans et avec adaptateurs, côte à côte</translation>
    </message>
    <message>
        <source>What would you like to know?</source>
        <translation>Que voulez-vous savoir ?</translation>
    </message>
    <message>
        <source>Write below. Drop a picture or a sound to ask about it; its cost is shown before you send.</source>
        <translation>Écrivez ci-dessous. Déposez une image ou un son pour poser une question dessus ; le coût est indiqué avant l&apos;envoi.</translation>
    </message>
    <message>
        <source>To the end</source>
        <translation>Vers la fin</translation>
    </message>
    <message>
        <source>Scroll to the end of the conversation</source>
        <translation>Aller à la fin de la conversation</translation>
    </message>
    <message>
        <source>Drop pictures and sounds to ask about them</source>
        <translation>Déposez des images et des sons pour poser une question dessus</translation>
    </message>
    <message>
        <source>Write a question first; Compare asks it of the model with and without its adapters.</source>
        <translation>Écrivez d&apos;abord une question ; Comparer la pose au modèle sans et avec ses adaptateurs.</translation>
    </message>
    <message>
        <source>Open this address in the browser?
%1</source>
        <translation>Ouvrir cette adresse dans le navigateur ?
%1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>System prompt: set</source>
        <translation>Consigne système : définie</translation>
    </message>
    <message>
        <source>What the model is told before the first message</source>
        <translation>Ce que le modèle apprend avant le premier message</translation>
    </message>
    <message>
        <source>Sampling: %1</source>
        <translation>Tirage : %1</translation>
    </message>
    <message>
        <source>How the next words are chosen; per chat</source>
        <translation>Comment les mots suivants sont choisis ; par discussion</translation>
    </message>
    <message>
        <source>Add pictures or sounds</source>
        <translation>Ajouter des images ou des sons</translation>
    </message>
    <message>
        <source>Pictures and sounds (*.png *.jpg *.jpeg *.webp *.wav *.flac *.ogg *.opus *.mp3 *.aiff *.aif)</source>
        <translation>Images et sons (*.png *.jpg *.jpeg *.webp *.wav *.flac *.ogg *.opus *.mp3 *.aiff *.aif)</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one at the top left, then press Load; your message stays here.</source>
        <translation>Aucun modèle n&apos;est chargé. Choisissez-en un en haut à gauche, puis Charger ; votre message reste ici.</translation>
    </message>
    <message>
        <source>This message alone has about %1 tokens, the context holds %2. Shorten it, leave out a file, or make the context larger.</source>
        <translation>Ce message seul a environ %1 jetons, le contexte en contient %2. Raccourcissez-le, omettez un fichier ou agrandissez le contexte.</translation>
    </message>
    <message>
        <source>Make the context larger…</source>
        <translation>Agrandir le contexte…</translation>
    </message>
    <message>
        <source>The context is full, so the reply stops here.</source>
        <translation>Le contexte est plein, la réponse s&apos;arrête ici.</translation>
    </message>
    <message>
        <source>Leave out the oldest turns and send</source>
        <translation>Omettre les tours les plus anciens et envoyer</translation>
    </message>
    <message>
        <source>Leave out the oldest turns</source>
        <translation>Omettre les tours les plus anciens</translation>
    </message>
    <message>
        <source>Back to editing</source>
        <translation>Retour à la rédaction</translation>
    </message>
    <message>
        <source>There is no older turn to leave out: the last question has to stay. Shorten it or make the context larger.</source>
        <translation>Il n&apos;y a pas de tour plus ancien à omettre : la dernière question doit rester. Raccourcissez-la ou agrandissez le contexte.</translation>
    </message>
    <message>
        <source>The model no longer sees the oldest part (%1); a line marks the place.</source>
        <translation>Le modèle ne voit plus la partie la plus ancienne (%1) ; un trait marque l&apos;endroit.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Deleted: %1.</source>
        <translation>Supprimé : %1.</translation>
    </message>
    <message>
        <source>Only a reply that was stopped or reached its token limit can be continued.</source>
        <translation>Seule une réponse arrêtée ou arrivée à sa limite de jetons peut être continuée.</translation>
    </message>
    <message>
        <source>The adapters act from the next reply on; this one goes on as it began.</source>
        <translation>Les adaptateurs agissent dès la prochaine réponse ; celle-ci continue comme elle a commencé.</translation>
    </message>
    <message>
        <source>The former reply and what follows it (%1) are kept as the version before</source>
        <translation>La réponse précédente et ce qui la suit (%1) sont conservés comme version précédente</translation>
    </message>
    <message>
        <source>The former reply is kept as the version before</source>
        <translation>La réponse précédente est conservée comme version précédente</translation>
    </message>
    <message>
        <source>%1 is not there, or is no picture: it was not opened.</source>
        <translation>%1 est absent ou n’est pas une image : il n’a pas été ouvert.</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>et %1 de plus</translation>
    </message>
    <message>
        <source>All attachments were removed from the message.</source>
        <translation>Toutes les pièces jointes ont été retirées du message.</translation>
    </message>
    <message>
        <source>Load with pictures and sounds</source>
        <translation>Charger avec images et sons</translation>
    </message>
    <message>
        <source>What you write and attach is sent to %1</source>
        <translation>Ce que vous écrivez et joignez est envoyé à %1</translation>
    </message>
    <message>
        <source>The whole conversation up to here would be sent to %1, which has not had all of it yet.</source>
        <translation>Toute la conversation jusqu&apos;ici serait envoyée à %1, qui n&apos;a pas encore tout reçu.</translation>
    </message>
    <message>
        <source>Send it there</source>
        <translation>L&apos;envoyer là-bas</translation>
    </message>
    <message>
        <source>%1 begins every reply anew. Let it reply once more, or ask for the rest.</source>
        <translation>%1 recommence chaque réponse. Faites-le répondre à nouveau, ou demandez le reste.</translation>
    </message>
    <message>
        <source>It is asked again by itself.</source>
        <translation>Il est redemandé automatiquement.</translation>
    </message>
    <message>
        <source>The reply was changed.</source>
        <translation>La réponse a été modifiée.</translation>
    </message>
    <message>
        <source>%1 (fork)</source>
        <comment>title of a chat</comment>
        <translation>%1 (bifurcation)</translation>
    </message>
    <message>
        <source>This is a chat of its own now; the one it comes from is unchanged.</source>
        <translation>C’est désormais une discussion à part ; celle d’où elle vient est inchangée.</translation>
    </message>
</context>
<context>
    <name>ui::ChatWords</name>
    <message>
        <source>1 token</source>
        <translation>1 jeton</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 jetons</translation>
    </message>
    <message>
        <source>1 message</source>
        <translation>1 message</translation>
    </message>
    <message>
        <source>%1 messages</source>
        <translation>%1 messages</translation>
    </message>
</context>
<context>
    <name>ui::ChosenChip</name>
    <message>
        <source>Load</source>
        <translation>Charger</translation>
    </message>
    <message>
        <source>Why?</source>
        <translation>Pourquoi ?</translation>
    </message>
    <message>
        <source>Say why the folder cannot be used</source>
        <translation>Dire pourquoi le dossier est inutilisable</translation>
    </message>
    <message>
        <source>Say why</source>
        <translation>Dire pourquoi</translation>
    </message>
    <message>
        <source>cannot be used</source>
        <translation>inutilisable</translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>lecture …</translation>
    </message>
    <message>
        <source>not loaded</source>
        <translation>non chargé</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>Charger %1</translation>
    </message>
    <message>
        <source>Load %1 in the place of %2</source>
        <translation>Charger %1 à la place de %2</translation>
    </message>
    <message>
        <source>Back to %1</source>
        <translation>Revenir à %1</translation>
    </message>
    <message>
        <source>Leave it: %1 stays loaded and chosen</source>
        <translation>Laisser : %1 reste chargé et choisi</translation>
    </message>
    <message>
        <source>Chosen: %1, %2</source>
        <translation>Choisi : %1, %2</translation>
    </message>
    <message>
        <source>Load here</source>
        <translation>Charger ici</translation>
    </message>
</context>
<context>
    <name>ui::CompareColumn</name>
    <message>
        <source>Base model</source>
        <translation>Modèle de base</translation>
    </message>
    <message>
        <source>Column %1</source>
        <translation>Colonne %1</translation>
    </message>
    <message>
        <source>Remove column %1</source>
        <translation>Retirer la colonne %1</translation>
    </message>
    <message>
        <source>Answer in column %1</source>
        <translation>Réponse dans la colonne %1</translation>
    </message>
    <message>
        <source>Strength of %1 in column %2</source>
        <translation>Force de %1 dans la colonne %2</translation>
    </message>
    <message>
        <source>%1 in column %2</source>
        <translation>%1 dans la colonne %2</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>Attend son tour</translation>
    </message>
    <message>
        <source>Reads the prompt</source>
        <translation>Lit la question</translation>
    </message>
    <message numerus="yes">
        <source>Thinks, %n tokens</source>
        <translation>
            <numerusform>Réfléchit, %n jeton</numerusform>
            <numerusform>Réfléchit, %n jetons</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Answers, %n tokens</source>
        <translation>
            <numerusform>Répond, %n jeton</numerusform>
            <numerusform>Répond, %n jetons</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n tokens</source>
        <translation>
            <numerusform>%n jeton</numerusform>
            <numerusform>%n jetons</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 jetons/s</translation>
    </message>
    <message>
        <source>first token after %1</source>
        <translation>1er jeton après %1</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>graine %1</translation>
    </message>
    <message numerus="yes">
        <source>%n words of thought, not shown</source>
        <translation>
            <numerusform>%n mot de réflexion, masqué</numerusform>
            <numerusform>%n mots de réflexion, masqués</numerusform>
        </translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>arrêtée</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>contexte plein</translation>
    </message>
    <message>
        <source>length limit reached</source>
        <translation>limite de longueur atteinte</translation>
    </message>
    <message>
        <source>Stopped before its turn</source>
        <translation>Arrêtée avant son tour</translation>
    </message>
    <message>
        <source>Same words as column 1</source>
        <translation>Mêmes mots que la colonne 1</translation>
    </message>
    <message>
        <source>Differs from column 1 from word %1 on</source>
        <translation>Diffère de la colonne 1 à partir du mot %1</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>KV cache in 8 bits</source>
        <translation>Cache KV en 8 bits</translation>
    </message>
    <message>
        <source>KV cache in 16 bits</source>
        <translation>Cache KV en 16 bits</translation>
    </message>
    <message>
        <source>As it is loaded</source>
        <translation>Tel qu’il est chargé</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Placement</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Poids</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>Cache KV</translation>
    </message>
    <message>
        <source>16 bits</source>
        <translation>16 bits</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 bits</translation>
    </message>
    <message>
        <source>Another file or folder</source>
        <translation>Un autre fichier ou dossier</translation>
    </message>
    <message>
        <source>Load of column %1: %2</source>
        <translation>Chargement de la colonne %1 : %2</translation>
    </message>
    <message>
        <source>Loads for this column: %1 of %2</source>
        <translation>Charge pour cette colonne : %1 sur %2</translation>
    </message>
    <message>
        <source>Loads for this column</source>
        <translation>Charge pour cette colonne</translation>
    </message>
</context>
<context>
    <name>ui::ComparePane</name>
    <message>
        <source>Column</source>
        <translation>Colonne</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Tout copier</translation>
    </message>
    <message>
        <source>Mark differences</source>
        <translation>Marquer les différences</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparer</translation>
    </message>
    <message>
        <source>Close the comparison</source>
        <translation>Fermer la comparaison</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Retour à la discussion (Échap)</translation>
    </message>
    <message>
        <source>Prompt for all columns</source>
        <translation>Question pour toutes les colonnes</translation>
    </message>
    <message>
        <source>What should all columns answer?</source>
        <translation>À quoi toutes les colonnes doivent-elles répondre ?</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Graine</translation>
    </message>
    <message>
        <source>The same number gives the same answer again</source>
        <translation>Le même nombre redonne la même réponse</translation>
    </message>
    <message>
        <source>Longest answer, in tokens</source>
        <translation>Réponse la plus longue, en jetons</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Réponse la plus longue</translation>
    </message>
    <message>
        <source>Add a column</source>
        <translation>Ajouter une colonne</translation>
    </message>
    <message>
        <source>Another set of adapters, up to four columns</source>
        <translation>Un autre jeu d&apos;adaptateurs, jusqu&apos;à quatre colonnes</translation>
    </message>
    <message>
        <source>Prompt, seed and all answers as Markdown</source>
        <translation>Question, graine et toutes les réponses en Markdown</translation>
    </message>
    <message>
        <source>With %1</source>
        <translation>Avec %1</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Arrêter</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lancer</translation>
    </message>
    <message>
        <source>Stops the column that answers and drops the rest (Esc)</source>
        <translation>Arrête la colonne qui répond et abandonne le reste (Échap)</translation>
    </message>
    <message>
        <source>Answers column by column (Ctrl+Enter)</source>
        <translation>Répond colonne par colonne (Ctrl+Entrée)</translation>
    </message>
    <message>
        <source>No adapter is loaded, so there is only the base to answer. Add adapters in the bar at the top.</source>
        <translation>Aucun adaptateur n&apos;est chargé, seule la base répond. Ajoutez des adaptateurs en haut.</translation>
    </message>
    <message>
        <source>Load a model to run the comparison.</source>
        <translation>Chargez un modèle pour comparer.</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Question</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>graine %1</translation>
    </message>
    <message>
        <source>One prompt and one seed for all columns.</source>
        <translation>Une question et une graine pour toutes les colonnes.</translation>
    </message>
    <message>
        <source>As it was placed before</source>
        <translation>Placé comme avant</translation>
    </message>
    <message>
        <source>As it is placed now</source>
        <translation>Placé comme maintenant</translation>
    </message>
    <message>
        <source>Identical</source>
        <translation>Identique</translation>
    </message>
    <message>
        <source>The same words</source>
        <translation>Les mêmes mots</translation>
    </message>
    <message>
        <source>Another answer from word %1 on</source>
        <translation>Autre réponse à partir du mot %1</translation>
    </message>
    <message>
        <source>%1 of VRAM freed</source>
        <translation>%1 de VRAM libérés</translation>
    </message>
    <message>
        <source>%1 more VRAM</source>
        <translation>%1 de VRAM en plus</translation>
    </message>
    <message>
        <source>%1 of main memory freed</source>
        <translation>%1 de mémoire vive libérés</translation>
    </message>
    <message>
        <source>%1 more main memory</source>
        <translation>%1 de mémoire vive en plus</translation>
    </message>
    <message>
        <source>pictures %1 slower</source>
        <translation>images plus lentes de %1</translation>
    </message>
    <message>
        <source>each picture about %1 slower</source>
        <translation>chaque image plus lente d’environ %1</translation>
    </message>
    <message>
        <source>pictures %1 faster</source>
        <translation>images plus rapides de %1</translation>
    </message>
    <message>
        <source>each picture about %1 faster</source>
        <translation>chaque image plus rapide d’environ %1</translation>
    </message>
    <message>
        <source>%1 tokens/s, before %2</source>
        <translation>%1 jetons/s, avant %2</translation>
    </message>
    <message>
        <source>What was loaded before comes back: %1 of %2</source>
        <translation>Ce qui était chargé revient : %1 sur %2</translation>
    </message>
    <message>
        <source>Columns with another load are loaded first, one after the other; what is loaded now comes back at the end.</source>
        <translation>Les colonnes d’un autre chargement sont d’abord chargées l’une après l’autre ; ce qui est chargé maintenant revient à la fin.</translation>
    </message>
</context>
<context>
    <name>ui::Composer</name>
    <message>
        <source>Prompt shortcuts (type / at the start)</source>
        <translation>Raccourcis de texte (tapez / au début)</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Envoyer</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Arrêter</translation>
    </message>
    <message>
        <source>Cancel (Esc)</source>
        <translation>Annuler (Échap)</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <translation>Annuler la modification</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Message</translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation>Envoyer le message (Entrée)</translation>
    </message>
    <message>
        <source>Stop the reply (Esc); what is written stays</source>
        <translation>Arrêter la réponse (Échap) ; ce qui est écrit reste</translation>
    </message>
    <message>
        <source>Prompt shortcuts</source>
        <translation>Raccourcis de texte</translation>
    </message>
    <message>
        <source>Save this message as a shortcut</source>
        <translation>Enregistrer ce message comme raccourci</translation>
    </message>
    <message>
        <source>Forget a shortcut</source>
        <translation>Oublier un raccourci</translation>
    </message>
    <message>
        <source>cost known once a model is loaded</source>
        <translation>coût connu une fois un modèle chargé</translation>
    </message>
    <message>
        <source>%1 is neither a picture (PNG, JPEG, WebP) nor a sound (WAV, FLAC, Ogg, MP3, AIFF).</source>
        <translation>%1 n&apos;est ni une image (PNG, JPEG, WebP) ni un son (WAV, FLAC, Ogg, MP3, AIFF).</translation>
    </message>
    <message>
        <source>%1 was not added: this model has no vision tower and cannot see pictures.</source>
        <translation>%1 n&apos;a pas été ajouté : ce modèle n&apos;a pas de tour de vision et ne voit pas les images.</translation>
    </message>
    <message>
        <source>%1 was not added: this model has no audio tower and cannot hear sounds.</source>
        <translation>%1 n&apos;a pas été ajouté : ce modèle n&apos;a pas de tour audio et n&apos;entend pas les sons.</translation>
    </message>
    <message>
        <source>%1 was not added: a message takes at most %2 files.</source>
        <translation>%1 n&apos;a pas été ajouté : un message prend au plus %2 fichiers.</translation>
    </message>
    <message>
        <source>pasted picture</source>
        <translation>image collée</translation>
    </message>
    <message>
        <source>The pasted picture could not be written to %1; check that there is room and the folder can be written.</source>
        <translation>L&apos;image collée n&apos;a pas pu être écrite dans %1 ; vérifiez la place et les droits du dossier.</translation>
    </message>
    <message>
        <source>Ask about text, a picture or a sound… drop files here or paste them</source>
        <translation>Posez une question sur un texte, une image ou un son… déposez ou collez des fichiers</translation>
    </message>
    <message>
        <source>Ask about text or a picture… drop files here or paste them</source>
        <translation>Posez une question sur un texte ou une image… déposez ou collez des fichiers</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>Écrire un message</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Arrêt…</translation>
    </message>
    <message>
        <source>Resend</source>
        <translation>Renvoyer</translation>
    </message>
    <message>
        <source>Will be sent when the reply is finished</source>
        <translation>Sera envoyé quand la réponse sera finie</translation>
    </message>
    <message>
        <source>Load a model to send</source>
        <translation>Chargez un modèle pour envoyer</translation>
    </message>
    <message>
        <source>Esc stops</source>
        <translation>Échap arrête</translation>
    </message>
    <message>
        <source>Enter sends · Shift+Enter starts a new line</source>
        <translation>Entrée envoie · Maj+Entrée va à la ligne</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>environ %1</translation>
    </message>
    <message>
        <source>%1 to encode</source>
        <translation>%1 pour encoder</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends after the reply</source>
        <translation>Ctrl+Entrée envoie après la réponse</translation>
    </message>
    <message>
        <source>Saved: type /%1 to use it again.</source>
        <translation>Enregistré : tapez /%1 pour le réutiliser.</translation>
    </message>
    <message>
        <source>Attach a picture or a sound</source>
        <translation>Joindre une image ou un son</translation>
    </message>
    <message>
        <source>Editing: the message and what follows it are kept as an earlier version</source>
        <translation>Modification : le message et la suite restent comme version antérieure</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <translation>Enregistrer au micro</translation>
    </message>
    <message>
        <source>recording %1</source>
        <translation>enregistrement %1</translation>
    </message>
    <message>
        <source>This model has no audio tower and cannot hear sounds.</source>
        <translation>Ce modèle n’a pas de tour audio et ne peut pas entendre de sons.</translation>
    </message>
    <message>
        <source>The model is being loaded; write meanwhile</source>
        <translation>Le modèle se charge ; écrivez en attendant</translation>
    </message>
    <message>
        <source>%1 answers</source>
        <translation>%1 répond</translation>
    </message>
    <message>
        <source>1 picture</source>
        <translation>1 image</translation>
    </message>
    <message>
        <source>%1 pictures</source>
        <translation>%1 images</translation>
    </message>
    <message>
        <source>1 sound</source>
        <translation>1 son</translation>
    </message>
    <message>
        <source>%1 sounds</source>
        <translation>%1 sons</translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1 et %2</translation>
    </message>
    <message>
        <source>Remove all</source>
        <translation>Tout retirer</translation>
    </message>
    <message>
        <source>Remove all attachments</source>
        <translation>Retirer toutes les pièces jointes</translation>
    </message>
    <message>
        <source>The model is loaded for text only and cannot hear sounds.</source>
        <translation>Le modèle est chargé pour le texte seul et n’entend pas les sons.</translation>
    </message>
    <message>
        <source>%1 was not added: the model is loaded for text only.</source>
        <translation>%1 n&apos;a pas été ajouté : le modèle est chargé pour le texte seul.</translation>
    </message>
    <message>
        <source>This model cannot be loaded: its weights are missing</source>
        <translation>Ce modèle ne peut pas être chargé : ses poids manquent</translation>
    </message>
    <message>
        <source>Editing a reply: what follows it stays</source>
        <translation>Modification d’une réponse : la suite reste</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <source>Enter saves · Shift+Enter starts a new line</source>
        <translation>Entrée enregistre · Maj+Entrée commence une nouvelle ligne</translation>
    </message>
</context>
<context>
    <name>ui::ComputerDialog</name>
    <message>
        <source>This computer</source>
        <translation>Cet ordinateur</translation>
    </message>
    <message>
        <source>What Belfry finds here, what of it is used, and why not the rest. Nothing of your models and chats is in it.</source>
        <translation>Ce que Belfry trouve ici, ce qui en est utilisé, et pourquoi le reste ne l’est pas. Rien de vos modèles ni de vos discussions n’y figure.</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Recherche…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation>Copier en texte</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>Actualiser</translation>
    </message>
</context>
<context>
    <name>ui::ContextGauge</name>
    <message>
        <source>context: no model</source>
        <translation>contexte : aucun modèle</translation>
    </message>
    <message>
        <source>No model is loaded, so there is no context</source>
        <translation>Aucun modèle n&apos;est chargé, il n&apos;y a donc pas de contexte</translation>
    </message>
    <message>
        <source>context ≈ %1 of %2</source>
        <translation>contexte ≈ %1 sur %2</translation>
    </message>
    <message>
        <source>context %1 of %2</source>
        <translation>contexte %1 sur %2</translation>
    </message>
    <message>
        <source>%1 of %2 tokens of the context are used; the next message adds about %3.</source>
        <translation>%1 jetons du contexte sur %2 sont pris ; le prochain message en ajoute environ %3.</translation>
    </message>
    <message>
        <source>That is too much: press to choose what to leave out.</source>
        <translation>C&apos;est trop : appuyez pour choisir quoi omettre.</translation>
    </message>
    <message>
        <source>Context: %1</source>
        <translation>Contexte : %1</translation>
    </message>
    <message>
        <source>Leave out the oldest turns</source>
        <translation>Omettre les tours les plus anciens</translation>
    </message>
    <message>
        <source>Use all turns again</source>
        <translation>Utiliser de nouveau tous les tours</translation>
    </message>
    <message>
        <source>Make the context larger…</source>
        <translation>Agrandir le contexte…</translation>
    </message>
</context>
<context>
    <name>ui::CoverageDialog</name>
    <message>
        <source>Coverage of %1</source>
        <translation>Couverture de %1</translation>
    </message>
    <message>
        <source>%1 of %2 tensors have a place in %3</source>
        <translation>%1 tenseurs sur %2 ont une place dans %3</translation>
    </message>
    <message>
        <source>Language %1 · vision %2 · audio %3 · other %4
Rank %5 · alpha %6 · scaling %7 · %8</source>
        <translation>Langue %1 · vision %2 · audio %3 · autres %4
Rang %5 · alpha %6 · échelle %7 · %8</translation>
    </message>
    <message>
        <source>Keys and modules of the adapter</source>
        <translation>Clés et modules de l&apos;adaptateur</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Copier le rapport</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Check the &amp;effect</source>
        <translation>Vérifier l’&amp;effet</translation>
    </message>
    <message numerus="yes">
        <source>%1: rank %2, alpha %3, scaling %4, %n modules</source>
        <translation>
            <numerusform>%1 : rang %2, alpha %3, échelle %4, %n module</numerusform>
            <numerusform>%1 : rang %2, alpha %3, échelle %4, %n modules</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 tensors act, %2 have no effect in this architecture, %3 are left out</source>
        <translation>%1 tenseurs agissent, %2 sont sans effet dans cette architecture, %3 sont laissés de côté</translation>
    </message>
    <message>
        <source>Runs fixed tokens, a fixed picture and a fixed sound with and without the adapter</source>
        <translation>Calcule des jetons, une image et un son fixes avec et sans l’adaptateur</translation>
    </message>
    <message>
        <source>The effect was not measured. %1</source>
        <translation>L’effet n’a pas été mesuré. %1</translation>
    </message>
    <message>
        <source>Measuring …</source>
        <translation>Mesure en cours…</translation>
    </message>
    <message>
        <source>Does the model answer differently with it? Not measured yet.</source>
        <translation>Le modèle répond-il autrement avec lui ? Pas encore mesuré.</translation>
    </message>
    <message>
        <source>Does the model answer differently with it? Can be measured once the model is loaded.</source>
        <translation>Le modèle répond-il autrement avec lui ? Mesurable une fois le modèle chargé.</translation>
    </message>
    <message>
        <source>No effect: base and adapter give the same values, bit by bit.</source>
        <translation>Aucun effet : la base et l’adaptateur donnent les mêmes valeurs, bit à bit.</translation>
    </message>
    <message>
        <source>%1 by up to %2</source>
        <translation>%1 de %2 au plus</translation>
    </message>
    <message>
        <source>%1 not at all</source>
        <translation>%1 pas du tout</translation>
    </message>
    <message>
        <source>the logits</source>
        <translation>les logits</translation>
    </message>
    <message>
        <source>what is seen in a picture</source>
        <translation>ce qui est vu dans une image</translation>
    </message>
    <message>
        <source>what is heard in a sound</source>
        <translation>ce qui est entendu dans un son</translation>
    </message>
    <message>
        <source>It acts. It changes %1.</source>
        <translation>Il agit. Il change %1.</translation>
    </message>
</context>
<context>
    <name>ui::CoverageModel</name>
    <message>
        <source>no place in this model: %1</source>
        <translation>pas de place dans ce modèle : %1</translation>
    </message>
    <message>
        <source>named by the adapter, but not in its file</source>
        <translation>nommé par l&apos;adaptateur, mais absent de son fichier</translation>
    </message>
    <message>
        <source>covered</source>
        <translation>couvert</translation>
    </message>
    <message>
        <source>Key or module</source>
        <translation>Clé ou module</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>Constat</translation>
    </message>
    <message>
        <source>covered, changes nothing</source>
        <translation>couvert, ne change rien</translation>
    </message>
    <message>
        <source>Frobenius norm of what is added to the weights at strength 1</source>
        <translation>Norme de Frobenius de ce qui s’ajoute aux poids à la force 1</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>Changement</translation>
    </message>
    <message>
        <source>left out: %1</source>
        <translation>laissé de côté : %1</translation>
    </message>
    <message>
        <source>no effect: %1</source>
        <translation>sans effet : %1</translation>
    </message>
</context>
<context>
    <name>ui::DiagnosticsDialog</name>
    <message>
        <source>Log and report</source>
        <translation>Journal et rapport</translation>
    </message>
    <message>
        <source>For a bug report: versions, devices, plan, measured memory and the log. Prompts, replies and attachments are never part of it.</source>
        <translation>Pour un rapport d&apos;erreur : versions, appareils, plan, mémoire mesurée et journal. Questions, réponses et pièces jointes n&apos;en font jamais partie.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Rapport</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Journal</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Copier le rapport</translation>
    </message>
</context>
<context>
    <name>ui::DownloadsPanel</name>
    <message>
        <source>Downloads</source>
        <translation>Téléchargements</translation>
    </message>
    <message>
        <source>Clear &amp;finished</source>
        <translation>Retirer les &amp;terminés</translation>
    </message>
    <message>
        <source>Cancel a download</source>
        <translation>Annuler un téléchargement</translation>
    </message>
    <message>
        <source>Cancel the download of %1?</source>
        <translation>Annuler le téléchargement de %1 ?</translation>
    </message>
    <message>
        <source>%1 have arrived. Kept, they are used when you get the model later.</source>
        <translation>%1 sont arrivés. Conservés, ils servent quand vous obtenez le modèle plus tard.</translation>
    </message>
    <message>
        <source>&amp;Cancel, keep the parts</source>
        <translation>&amp;Annuler, garder les parties</translation>
    </message>
    <message>
        <source>Cancel and &amp;delete them</source>
        <translation>Annuler et les &amp;supprimer</translation>
    </message>
    <message>
        <source>&amp;Go on</source>
        <translation>&amp;Continuer</translation>
    </message>
    <message>
        <source>Download of %1</source>
        <translation>Téléchargement de %1</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continuer</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1 : %2</translation>
    </message>
    <message>
        <source>Take it off the list</source>
        <translation>Retirer de la liste</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Sign in…</source>
        <translation>Se connecter…</translation>
    </message>
    <message>
        <source>Add to the model</source>
        <translation>Ajouter au modèle</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Charger</translation>
    </message>
</context>
<context>
    <name>ui::ErrorCause</name>
    <message>
        <source>Line %1, column %2: %3</source>
        <translation>Ligne %1, colonne %2 : %3</translation>
    </message>
    <message>
        <source>(and %1 more)</source>
        <translation>(et %1 autres)</translation>
    </message>
</context>
<context>
    <name>ui::FindBar</name>
    <message>
        <source>Find in the chat</source>
        <translation>Rechercher dans la discussion</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <translation>Rechercher dans cette discussion</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>Résultat précédent</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>Résultat suivant</translation>
    </message>
    <message>
        <source>End the search</source>
        <translation>Terminer la recherche</translation>
    </message>
    <message>
        <source>End the search (Esc)</source>
        <translation>Terminer la recherche (Échap)</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>number of the hit, of all</comment>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>introuvable</translation>
    </message>
</context>
<context>
    <name>ui::FolderProblem</name>
    <message>
        <source>It was trained for a model of another size. Choose the model that it was trained for, or another adapter.</source>
        <translation>Il a été entraîné pour un modèle d’une autre taille. Choisissez le modèle pour lequel il a été entraîné, ou un autre adaptateur.</translation>
    </message>
    <message>
        <source>The weights are not here: layouts can be tried, loading cannot. Put the .safetensors files into this folder to load it.</source>
        <translation>Les poids ne sont pas là : on peut essayer des placements, pas charger. Mettez les fichiers .safetensors dans ce dossier pour le charger.</translation>
    </message>
    <message>
        <source>%1 (in %2)</source>
        <translation>%1 (dans %2)</translation>
    </message>
</context>
<context>
    <name>ui::GetModel</name>
    <message>
        <source>private</source>
        <translation>privé</translation>
    </message>
    <message>
        <source>licence to accept</source>
        <translation>licence à accepter</translation>
    </message>
    <message>
        <source>Gemma 4, as Google publishes it</source>
        <translation>Gemma 4, tel que Google le publie</translation>
    </message>
    <message>
        <source>Found at %1</source>
        <translation>Trouvés sur %1</translation>
    </message>
</context>
<context>
    <name>ui::GetPage</name>
    <message>
        <source>&amp;Token…</source>
        <translation>&amp;Jeton…</translation>
    </message>
    <message>
        <source>For models whose licence has to be accepted, and private ones</source>
        <translation>Pour les modèles dont la licence doit être acceptée, et les modèles privés</translation>
    </message>
    <message>
        <source>Models to get</source>
        <translation>Modèles à obtenir</translation>
    </message>
    <message>
        <source>Show &amp;more</source>
        <translation>Afficher &amp;plus</translation>
    </message>
    <message>
        <source>Search, or paste an address or owner/name</source>
        <translation>Chercher, ou coller une adresse ou propriétaire/nom</translation>
    </message>
    <message>
        <source>Search the hub, or an address</source>
        <translation>Chercher dans le hub, ou une adresse</translation>
    </message>
    <message>
        <source>What is searched for</source>
        <translation>Ce que l’on cherche</translation>
    </message>
    <message>
        <source>Models (safetensors)</source>
        <translation>Modèles (safetensors)</translation>
    </message>
    <message>
        <source>Adapters (PEFT)</source>
        <translation>Adaptateurs (PEFT)</translation>
    </message>
    <message>
        <source>GGUF files</source>
        <translation>Fichiers GGUF</translation>
    </message>
    <message>
        <source>This build of Belfry has no network part.</source>
        <translation>Ce Belfry est construit sans partie réseau.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE forbids the network to this program.</source>
        <translation>HF_HUB_OFFLINE interdit le réseau à ce programme.</translation>
    </message>
    <message>
        <source>The settings forbid the network.</source>
        <translation>Les réglages interdisent le réseau.</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>A&amp;rrêter</translation>
    </message>
    <message>
        <source>L&amp;ook up</source>
        <translation>&amp;Consulter</translation>
    </message>
    <message>
        <source>Searc&amp;h</source>
        <translation>C&amp;hercher</translation>
    </message>
    <message>
        <source>%1 (a mirror, set in the settings or by HF_ENDPOINT)</source>
        <translation>%1 (un miroir, des réglages ou de HF_ENDPOINT)</translation>
    </message>
    <message>
        <source>Nothing is asked of the network before you click. Asked is: %1</source>
        <translation>Rien n’est demandé au réseau avant votre clic. On interroge : %1</translation>
    </message>
    <message>
        <source>The network is not used.</source>
        <translation>Le réseau n’est pas utilisé.</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Recherche…</translation>
    </message>
    <message>
        <source>Nothing was found for “%1”.</source>
        <translation>Rien trouvé pour « %1 ».</translation>
    </message>
    <message>
        <source>Adapters for %1</source>
        <translation>Adaptateurs pour %1</translation>
    </message>
</context>
<context>
    <name>ui::HistoryDelegate</name>
    <message>
        <source>New title of the chat</source>
        <translation>Nouveau titre de la discussion</translation>
    </message>
</context>
<context>
    <name>ui::HistoryModel</name>
    <message>
        <source>Today</source>
        <translation>Aujourd&apos;hui</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Hier</translation>
    </message>
    <message>
        <source>Last seven days</source>
        <translation>Sept derniers jours</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>month, year</comment>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message numerus="yes">
        <source>%n messages</source>
        <translation>
            <numerusform>%n message</numerusform>
            <numerusform>%n messages</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1, %2: %3</source>
        <translation>%1, %2 : %3</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Épinglées</translation>
    </message>
    <message>
        <source>%1, %2, pinned</source>
        <translation>%1, %2, épinglée</translation>
    </message>
</context>
<context>
    <name>ui::HistoryPane</name>
    <message>
        <source>New chat</source>
        <translation>Nouvelle discussion</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Discussions</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>Chercher dans les discussions</translation>
    </message>
    <message>
        <source>Chats, latest first</source>
        <translation>Discussions, les plus récentes d&apos;abord</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Chats are not being saved</source>
        <translation>Les discussions ne sont pas enregistrées</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>No chat contains “%1”.</source>
        <translation>Aucune discussion ne contient « %1 ».</translation>
    </message>
    <message>
        <source>Your chats appear here. Each one is saved on this computer after every message.</source>
        <translation>Vos discussions apparaissent ici. Chacune est enregistrée sur cet ordinateur après chaque message.</translation>
    </message>
    <message>
        <source>Deleted: %1</source>
        <translation>Supprimé : %1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Renommer</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>Exporter en Markdown…</translation>
    </message>
    <message>
        <source>Export as JSON…</source>
        <translation>Exporter en JSON…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Export chat</source>
        <translation>Exporter la discussion</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>More about chats</source>
        <translation>Plus sur les discussions</translation>
    </message>
    <message>
        <source>Import a chat (JSON)…</source>
        <translation>Importer une discussion (JSON)…</translation>
    </message>
    <message>
        <source>Import a chat</source>
        <translation>Importer une discussion</translation>
    </message>
    <message>
        <source>Chats exported by Belfry (*.json)</source>
        <translation>Discussions exportées par Belfry (*.json)</translation>
    </message>
    <message>
        <source>Finds chats in which every word occurs</source>
        <translation>Trouve les discussions qui contiennent chaque mot</translation>
    </message>
    <message>
        <source>Brings the chat back (%1)</source>
        <translation>Rétablit la discussion (%1)</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Détacher</translation>
    </message>
    <message>
        <source>Pin to the top</source>
        <translation>Épingler en haut</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Dupliquer</translation>
    </message>
    <message>
        <source>%1 (copy)</source>
        <comment>title of a chat</comment>
        <translation>%1 (copie)</translation>
    </message>
</context>
<context>
    <name>ui::Hub</name>
    <message>
        <source>%1 parameters · %2 · %3 · Apache 2.0</source>
        <translation>%1 paramètres · %2 · %3 · Apache 2.0</translation>
    </message>
    <message>
        <source>text, pictures, sounds</source>
        <translation>texte, images, sons</translation>
    </message>
    <message>
        <source>text, pictures</source>
        <translation>texte, images</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>adaptateur</translation>
    </message>
    <message>
        <source>adapter for %1</source>
        <translation>adaptateur pour %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 paramètres</translation>
    </message>
    <message>
        <source>%1 downloads a month</source>
        <translation>%1 téléchargements par mois</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>ne tient pas</translation>
    </message>
    <message>
        <source>fits in 4 bits</source>
        <translation>tient en 4 bits</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>tient</translation>
    </message>
    <message>
        <source>Does not fit, also not in 4 bits: it would take %1 of memory.</source>
        <translation>Ne tient pas, même en 4 bits : il prendrait %1 de mémoire.</translation>
    </message>
    <message>
        <source>%1 of memory, about %2 tokens/s (estimated)</source>
        <translation>%1 de mémoire, environ %2 jetons/s (estimé)</translation>
    </message>
    <message>
        <source>Fits in 4 bits: %1.</source>
        <translation>Tient en 4 bits : %1.</translation>
    </message>
    <message>
        <source>Fits as it is published: %1.</source>
        <translation>Tient tel que publié : %1.</translation>
    </message>
    <message numerus="yes">
        <source>All of its %n files are here already.</source>
        <translation>
            <numerusform>Son %n fichier est déjà ici.</numerusform>
            <numerusform>Ses %n fichiers sont déjà tous ici.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 to fetch in %n files.</source>
        <translation>
            <numerusform>%1 à télécharger, en %n fichier.</numerusform>
            <numerusform>%1 à télécharger, en %n fichiers.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of it are here already.</source>
        <translation>%1 sont déjà ici.</translation>
    </message>
    <message numerus="yes">
        <source>%n files that Belfry does not load are left out (%1).</source>
        <translation>
            <numerusform>%n fichier que Belfry ne charge pas est laissé de côté (%1).</numerusform>
            <numerusform>%n fichiers que Belfry ne charge pas sont laissés de côté (%1).</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 are free on that disk.</source>
        <translation>%1 sont libres sur ce disque.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>%1 · waits for another to be done</source>
        <translation>%1 · attend la fin d’un autre</translation>
    </message>
    <message>
        <source>%1 · paused</source>
        <translation>%1 · en pause</translation>
    </message>
    <message>
        <source>%1 · whole and checked</source>
        <translation>%1 · entier et vérifié</translation>
    </message>
    <message>
        <source>ended early</source>
        <translation>terminé trop tôt</translation>
    </message>
    <message>
        <source>%1 · trying again: %2</source>
        <translation>%1 · nouvel essai : %2</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>encore %1</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 de mémoire</translation>
    </message>
</context>
<context>
    <name>ui::Issue</name>
    <message>
        <source>KV cache of %1 tokens</source>
        <translation>cache KV de %1 jetons</translation>
    </message>
    <message>
        <source>adapters</source>
        <translation>adaptateurs</translation>
    </message>
    <message>
        <source>audio tower</source>
        <translation>tour audio</translation>
    </message>
    <message>
        <source>context of the driver</source>
        <translation>contexte du pilote</translation>
    </message>
    <message>
        <source>head</source>
        <translation>tête</translation>
    </message>
    <message>
        <source>layers %1–%2</source>
        <translation>couches %1–%2</translation>
    </message>
    <message>
        <source>per-layer embeddings</source>
        <translation>plongements par couche</translation>
    </message>
    <message>
        <source>room for visiting weights</source>
        <translation>place pour les poids de passage</translation>
    </message>
    <message>
        <source>token embedding</source>
        <translation>plongement des jetons</translation>
    </message>
    <message>
        <source>vision tower</source>
        <translation>tour de vision</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>copies d’experts</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>espace de travail</translation>
    </message>
    <message>
        <source>What is free is an estimate. Loading anyway may work; it may also make the computer slow, or the system may end a program. A load that fails leaves what was there.</source>
        <translation>Ce qui est libre est une estimation. Charger quand même peut réussir ; l’ordinateur peut aussi devenir lent, ou le système arrêter un programme. Un chargement qui échoue laisse en place ce qui y était.</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>couche %1</translation>
    </message>
    <message>
        <source>experts of layer %1</source>
        <translation>experts de la couche %1</translation>
    </message>
    <message>
        <source>experts of layers %1–%2</source>
        <translation>experts des couches %1–%2</translation>
    </message>
</context>
<context>
    <name>ui::LaneWidget</name>
    <message>
        <source>streamed or gathered</source>
        <translation>transmis ou lu par lignes</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1 too much</source>
        <translation>%1 de trop</translation>
    </message>
    <message>
        <source>read when needed</source>
        <translation>lu au besoin</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>reste %1</translation>
    </message>
    <message>
        <source>Nothing here.
Parts on disk are read when they are needed.</source>
        <translation>Rien ici.
Les parties sur le disque sont lues au besoin.</translation>
    </message>
    <message>
        <source>Nothing here.
Drag a block here, or focus one and press M.</source>
        <translation>Rien ici.
Déposez un bloc ici, ou choisissez-en un et appuyez sur M.</translation>
    </message>
</context>
<context>
    <name>ui::LaunchDialog</name>
    <message>
        <source>Server program</source>
        <translation>Programme du serveur</translation>
    </message>
    <message>
        <source>What to copy</source>
        <translation>Ce qui est copié</translation>
    </message>
    <message>
        <source>Cards of the server</source>
        <translation>Cartes du serveur</translation>
    </message>
    <message>
        <source>Memory of each card</source>
        <translation>Mémoire de chaque carte</translation>
    </message>
    <message>
        <source>Copy the &amp;merge command</source>
        <translation>Copier la commande de &amp;fusion</translation>
    </message>
    <message>
        <source>Run it on a server</source>
        <translation>L&apos;exécuter sur un serveur</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Commande</translation>
    </message>
    <message>
        <source>1 card</source>
        <translation>1 carte</translation>
    </message>
    <message>
        <source>%1 cards</source>
        <translation>%1 cartes</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>de %1</translation>
    </message>
    <message>
        <source>Command or compose file</source>
        <translation>Commande ou fichier compose</translation>
    </message>
    <message>
        <source>C&amp;opy</source>
        <translation>C&amp;opier</translation>
    </message>
    <message>
        <source>About %1 on each card, in 16 bit: an estimate. Belfry starts nothing there: copy it, run it on the server, then connect to it.</source>
        <translation>Environ %1 sur chaque carte, en 16 bits : une estimation. Belfry n&apos;y démarre rien : copiez, exécutez sur le serveur, puis connectez-vous-y.</translation>
    </message>
    <message>
        <source>About %1 would be needed on each card, in 16 bit: take more cards or larger ones.</source>
        <translation>Il faudrait environ %1 sur chaque carte, en 16 bits : prenez plus de cartes ou de plus grandes.</translation>
    </message>
    <message>
        <source>Not as here:</source>
        <translation>Autrement qu&apos;ici :</translation>
    </message>
    <message>
        <source>These adapters in one model that any server takes as it is: merge them here first.</source>
        <translation>Ces adaptateurs dans un seul modèle que tout serveur accepte tel quel : fusionnez-les d&apos;abord ici.</translation>
    </message>
    <message>
        <source>Copy the &amp;stack command</source>
        <translation>Copier la commande d&apos;&amp;empilement</translation>
    </message>
    <message>
        <source>One adapter that does what these do at their strengths, without any loss: stack them here first, then name it in the command in their place.</source>
        <translation>Un adaptateur qui fait sans aucune perte ce que ceux-ci font à leur force : empilez-les d&apos;abord ici, puis nommez-le à leur place dans la commande.</translation>
    </message>
</context>
<context>
    <name>ui::LayoutBlock</name>
    <message>
        <source>copy on %1</source>
        <translation>copie sur %1</translation>
    </message>
    <message>
        <source>visits %1 when used</source>
        <translation>visite %1 à l&apos;usage</translation>
    </message>
    <message>
        <source>rows go to %1</source>
        <translation>les lignes vont vers %1</translation>
    </message>
    <message>
        <source>streamed to %1</source>
        <translation>transmis vers %1</translation>
    </message>
    <message>
        <source>as stored</source>
        <translation>tels quels</translation>
    </message>
    <message>
        <source>Layer %1</source>
        <translation>Couche %1</translation>
    </message>
    <message>
        <source>Layers %1 – %2</source>
        <translation>Couches %1 – %2</translation>
    </message>
    <message>
        <source>Vision tower</source>
        <translation>Tour de vision</translation>
    </message>
    <message>
        <source>Vision projector</source>
        <translation>Projecteur de vision</translation>
    </message>
    <message>
        <source>Audio tower</source>
        <translation>Tour audio</translation>
    </message>
    <message>
        <source>Audio projector</source>
        <translation>Projecteur audio</translation>
    </message>
    <message>
        <source>Per-layer embeddings</source>
        <translation>Plongements par couche</translation>
    </message>
    <message>
        <source>Head + token embedding</source>
        <translation>Tête + plongement des jetons</translation>
    </message>
    <message>
        <source>Token embedding</source>
        <translation>Plongement des jetons</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Tête</translation>
    </message>
    <message>
        <source>Drafting assistant</source>
        <translation>Assistant de brouillons</translation>
    </message>
    <message>
        <source>Norms and projection</source>
        <translation>Normes et projection</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>Cache KV</translation>
    </message>
    <message>
        <source>from %1 on they share KV</source>
        <translation>à partir de %1 elles partagent le KV</translation>
    </message>
    <message>
        <source>share KV of earlier layers</source>
        <translation>partagent le KV de couches antérieures</translation>
    </message>
    <message>
        <source>own their KV</source>
        <translation>leur propre KV</translation>
    </message>
    <message>
        <source>1 layer</source>
        <translation>1 couche</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 couches</translation>
    </message>
    <message>
        <source>one table for both</source>
        <translation>une table pour les deux</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 jetons</translation>
    </message>
    <message>
        <source>kept here</source>
        <translation>gardé ici</translation>
    </message>
    <message>
        <source>follows the layers</source>
        <translation>suit les couches</translation>
    </message>
    <message>
        <source>%1 read per token</source>
        <translation>%1 lus par jeton</translation>
    </message>
    <message>
        <source>Only one row of it is read per token: on the CPU it would cost hardly any speed and leave this memory free.</source>
        <translation>Une seule ligne est lue par jeton : sur le CPU cela ne coûterait presque pas de vitesse et libérerait cette mémoire.</translation>
    </message>
    <message>
        <source>Only one row of it is read per token: here it costs hardly any speed.</source>
        <translation>Une seule ligne est lue par jeton : ici cela ne coûte presque pas de vitesse.</translation>
    </message>
    <message>
        <source>%1, %2, on %3</source>
        <translation>%1, %2, sur %3</translation>
    </message>
    <message>
        <source>values of its own</source>
        <translation>valeurs propres</translation>
    </message>
    <message>
        <source>Experts of layer %1</source>
        <translation>Experts de la couche %1</translation>
    </message>
    <message>
        <source>Experts of layers %1 – %2</source>
        <translation>Experts des couches %1 – %2</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>Modules in it that adapters change: %1.</source>
        <translation>Modules qu’y changent les adaptateurs : %1.</translation>
    </message>
    <message>
        <source>Some tensors inside are placed elsewhere by the map.</source>
        <translation>Le plan place ailleurs certains de ses tenseurs.</translation>
    </message>
    <message>
        <source>Not applied yet.</source>
        <translation>Pas encore appliqué.</translation>
    </message>
</context>
<context>
    <name>ui::LayoutPrice</name>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>Cannot be</source>
        <translation>Impossible</translation>
    </message>
    <message>
        <source>each image</source>
        <translation>chaque image</translation>
    </message>
    <message>
        <source>10 s of sound</source>
        <translation>10 s de son</translation>
    </message>
    <message>
        <source>each token</source>
        <translation>chaque jeton</translation>
    </message>
    <message>
        <source>travels per token</source>
        <translation>voyage par jeton</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>adaptateur</translation>
    </message>
    <message>
        <source>%1 modules move along</source>
        <translation>%1 modules suivent</translation>
    </message>
    <message>
        <source>tower</source>
        <translation>tour</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>poids</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>cache KV</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>copies d’experts</translation>
    </message>
    <message>
        <source>room to compute</source>
        <translation>espace de calcul</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>pilote</translation>
    </message>
</context>
<context>
    <name>ui::LayoutStaging</name>
    <message>
        <source>Options</source>
        <translation>Options</translation>
    </message>
    <message>
        <source>Revert</source>
        <translation>Revenir</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Ajusté</translation>
    </message>
    <message>
        <source>Simulated %1</source>
        <translation>Simulé %1</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 sur %2</translation>
    </message>
</context>
<context>
    <name>ui::LayoutView</name>
    <message>
        <source>Line %1, column %2: %3</source>
        <translation>Ligne %1, colonne %2 : %3</translation>
    </message>
    <message>
        <source>%1: not possible. %2</source>
        <translation>%1 : impossible. %2</translation>
    </message>
    <message>
        <source>No plan: %1</source>
        <translation>Pas de plan : %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1 : %2</translation>
    </message>
    <message>
        <source>Nothing was loaded.</source>
        <translation>Rien n&apos;a été chargé.</translation>
    </message>
    <message>
        <source>What was loaded before is in place again; your change is still staged.</source>
        <translation>Ce qui était chargé est de nouveau en place ; votre changement reste préparé.</translation>
    </message>
    <message>
        <source>Stopped. %1</source>
        <translation>Arrêté. %1</translation>
    </message>
    <message>
        <source>It could not be applied: %1. %2</source>
        <translation>Impossible à appliquer : %1. %2</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>Faire tenir</translation>
    </message>
    <message>
        <source>Revert</source>
        <translation>Revenir</translation>
    </message>
    <message>
        <source>Split %1</source>
        <translation>Séparer %1</translation>
    </message>
    <message>
        <source>Head with a table of its own</source>
        <translation>Tête avec sa propre table</translation>
    </message>
    <message>
        <source>Split layers at %1</source>
        <translation>Séparer les couches à %1</translation>
    </message>
    <message>
        <source>%1 has no neighbouring layers on the same device. Move one to the other first.</source>
        <translation>%1 n&apos;a pas de couches voisines sur le même appareil. Déplacez d&apos;abord l&apos;une vers l&apos;autre.</translation>
    </message>
    <message>
        <source>Join layers</source>
        <translation>Joindre les couches</translation>
    </message>
    <message>
        <source>Join tower and projector</source>
        <translation>Joindre tour et projecteur</translation>
    </message>
    <message>
        <source>One table for head and embedding</source>
        <translation>Une table pour la tête et le plongement</translation>
    </message>
    <message>
        <source>KV cache follows the layers</source>
        <translation>Le cache KV suit les couches</translation>
    </message>
    <message>
        <source>Move to</source>
        <translation>Déplacer vers</translation>
    </message>
    <message>
        <source>&amp;%1  %2</source>
        <translation>&amp;%1  %2</translation>
    </message>
    <message>
        <source>%1 → %2</source>
        <translation>%1 → %2</translation>
    </message>
    <message>
        <source>Visit when used</source>
        <translation>Visiter à l&apos;usage</translation>
    </message>
    <message>
        <source>Stream from</source>
        <translation>Transmettre depuis</translation>
    </message>
    <message>
        <source>Keep on %1, compute on %2</source>
        <translation>Garder sur %1, calculer sur %2</translation>
    </message>
    <message>
        <source>Give the head a table of its own	S</source>
        <translation>Donner à la tête sa propre table	S</translation>
    </message>
    <message>
        <source>Split off the projector	S</source>
        <translation>Détacher le projecteur	S</translation>
    </message>
    <message>
        <source>Split …	S</source>
        <translation>Séparer …	S</translation>
    </message>
    <message>
        <source>Follow the layers	J</source>
        <translation>Suivre les couches	J</translation>
    </message>
    <message>
        <source>One table with the embedding	J</source>
        <translation>Une table avec le plongement	J</translation>
    </message>
    <message>
        <source>Join with neighbour	J</source>
        <translation>Joindre au voisin	J</translation>
    </message>
    <message>
        <source>The fastest placement that fits</source>
        <translation>Le placement le plus rapide qui tient</translation>
    </message>
    <message>
        <source>Everything on the first GPU</source>
        <translation>Tout sur le premier GPU</translation>
    </message>
    <message>
        <source>Vision and audio tower on the CPU, the rest on the GPU</source>
        <translation>Tours de vision et audio sur le CPU, le reste sur le GPU</translation>
    </message>
    <message>
        <source>The per-layer embedding table on the CPU</source>
        <translation>La table des plongements par couche sur le CPU</translation>
    </message>
    <message>
        <source>Towers and per-layer embeddings on the CPU</source>
        <translation>Tours et plongements par couche sur le CPU</translation>
    </message>
    <message>
        <source>Everything on the CPU</source>
        <translation>Tout sur le CPU</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Cet ordinateur</translation>
    </message>
    <message>
        <source>Simulate it on this computer</source>
        <translation>Le simuler sur cet ordinateur</translation>
    </message>
    <message>
        <source>A computer of my own …</source>
        <translation>Un ordinateur à moi …</translation>
    </message>
    <message>
        <source>A model that is not here</source>
        <translation>Un modèle qui n&apos;est pas ici</translation>
    </message>
    <message>
        <source>Open a map …</source>
        <translation>Ouvrir un plan …</translation>
    </message>
    <message>
        <source>Save the map as</source>
        <translation>Enregistrer le plan sous</translation>
    </message>
    <message>
        <source>Belfry map …</source>
        <translation>Plan Belfry …</translation>
    </message>
    <message>
        <source>accelerate device_map …</source>
        <translation>accelerate device_map …</translation>
    </message>
    <message>
        <source>Copy as</source>
        <translation>Copier comme</translation>
    </message>
    <message>
        <source>Belfry map</source>
        <translation>Plan Belfry</translation>
    </message>
    <message>
        <source>accelerate device_map</source>
        <translation>accelerate device_map</translation>
    </message>
    <message>
        <source>Simulated GPUs, limits, context …</source>
        <translation>GPU simulés, limites, contexte …</translation>
    </message>
    <message>
        <source>Open a map</source>
        <translation>Ouvrir un plan</translation>
    </message>
    <message>
        <source>Device maps (*.json);;All files (*)</source>
        <translation>Plans d&apos;appareils (*.json);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Map %1</source>
        <translation>Plan %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>Enregistré : %1</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Copié.</translation>
    </message>
    <message>
        <source>Copied. Some things will be different there:</source>
        <translation>Copié. Certaines choses y seront différentes :</translation>
    </message>
    <message>
        <source>Some things will be different there:</source>
        <translation>Certaines choses y seront différentes :</translation>
    </message>
    <message>
        <source>Save the map</source>
        <translation>Enregistrer le plan</translation>
    </message>
    <message>
        <source>Device maps (*.json)</source>
        <translation>Plans d&apos;appareils (*.json)</translation>
    </message>
    <message>
        <source>read when needed</source>
        <translation>lu au besoin</translation>
    </message>
    <message>
        <source>drop here: %1 too much</source>
        <translation>déposer ici : %1 de trop</translation>
    </message>
    <message>
        <source>drop here: %1 left</source>
        <translation>déposer ici : reste %1</translation>
    </message>
    <message>
        <source>drop here</source>
        <translation>déposer ici</translation>
    </message>
    <message>
        <source>the cache has to be in memory</source>
        <translation>le cache doit être en mémoire</translation>
    </message>
    <message>
        <source>price</source>
        <translation>prix</translation>
    </message>
    <message>
        <source>being worked out …</source>
        <translation>calcul en cours …</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>Impossible</translation>
    </message>
    <message>
        <source>stays</source>
        <translation>reste</translation>
    </message>
    <message>
        <source>it is here already</source>
        <translation>il est déjà ici</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Rétablir</translation>
    </message>
    <message>
        <source>Presets ▾</source>
        <translation>Préréglages ▾</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Préréglages</translation>
    </message>
    <message>
        <source>What if: this computer ▾</source>
        <translation>Et si : cet ordinateur ▾</translation>
    </message>
    <message>
        <source>What if: plan for another computer</source>
        <translation>Et si : planifier pour un autre ordinateur</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Plus</translation>
    </message>
    <message>
        <source>Map files and options</source>
        <translation>Fichiers de plan et options</translation>
    </message>
    <message>
        <source>Choose a model to see its parts here.

Every part becomes a block with its bytes. Drag blocks between graphics card, processor and disk; while you hold one, every lane tells what it would hold and what the move costs.</source>
        <translation>Choisissez un modèle pour voir ses parties ici.

Chaque partie devient un bloc avec ses octets. Déplacez les blocs entre carte graphique, processeur et disque ; tant que vous en tenez un, chaque colonne dit ce qu&apos;elle contiendrait et ce que coûte le déplacement.</translation>
    </message>
    <message>
        <source>Back to what is loaded</source>
        <translation>Retour à ce qui est chargé</translation>
    </message>
    <message>
        <source>Nothing to undo</source>
        <translation>Rien à annuler</translation>
    </message>
    <message>
        <source>Nothing to redo</source>
        <translation>Rien à rétablir</translation>
    </message>
    <message>
        <source>What if: %1 ▾</source>
        <translation>Et si : %1 ▾</translation>
    </message>
    <message>
        <source>Back to this computer</source>
        <translation>Retour à cet ordinateur</translation>
    </message>
    <message>
        <source>Applying…</source>
        <translation>Application …</translation>
    </message>
    <message>
        <source>Load with this layout</source>
        <translation>Charger avec ce placement</translation>
    </message>
    <message>
        <source>Load again with this</source>
        <translation>Recharger avec cela</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>Appliquer</translation>
    </message>
    <message>
        <source>Apply 1 change</source>
        <translation>Appliquer 1 changement</translation>
    </message>
    <message>
        <source>Apply %1 changes</source>
        <translation>Appliquer %1 changements</translation>
    </message>
    <message>
        <source>✓ Fits</source>
        <translation>✓ Tient</translation>
    </message>
    <message>
        <source>✗ Does not fit</source>
        <translation>✗ Ne tient pas</translation>
    </message>
    <message>
        <source>%1 &lt;b&gt;%2&lt;/b&gt; of %3</source>
        <translation>%1 &lt;b&gt;%2&lt;/b&gt; sur %3</translation>
    </message>
    <message>
        <source>about&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;&amp;nbsp;tokens/s</source>
        <translation>environ&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;&amp;nbsp;jetons/s</translation>
    </message>
    <message>
        <source>image&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</source>
        <translation>image&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>10&amp;nbsp;s&amp;nbsp;of&amp;nbsp;sound&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</source>
        <translation>10&amp;nbsp;s&amp;nbsp;de&amp;nbsp;son&amp;nbsp;&lt;b&gt;%1&lt;/b&gt;</translation>
    </message>
    <message>
        <source>plan only: the weights are not in the folder</source>
        <translation>plan seulement : les poids ne sont pas dans le dossier</translation>
    </message>
    <message>
        <source>%1 would need %2 and has %3: %4 too much.</source>
        <translation>%1 demanderait %2 et a %3 : %4 de trop.</translation>
    </message>
    <message>
        <source>Try: %1.</source>
        <translation>Essayez : %1.</translation>
    </message>
    <message>
        <source>Add a simulated GPU …</source>
        <translation>Ajouter un GPU simulé …</translation>
    </message>
    <message>
        <source>Add a simulated GPU</source>
        <translation>Ajouter un GPU simulé</translation>
    </message>
    <message>
        <source>Make it true</source>
        <translation>Le réaliser</translation>
    </message>
    <message>
        <source>Undo: %1</source>
        <translation>Annuler : %1</translation>
    </message>
    <message>
        <source>Redo: %1</source>
        <translation>Rétablir : %1</translation>
    </message>
    <message>
        <source>The adapter does not fit this model; this plan is without it.</source>
        <translation>L’adaptateur ne convient pas à ce modèle ; ce plan est établi sans lui.</translation>
    </message>
    <message>
        <source>A simulated card has a hard memory limit and computes on the processor: try a split before you own the card.</source>
        <translation>Une carte simulée a une limite de mémoire stricte et calcule sur le processeur : essayez une répartition avant d’avoir la carte.</translation>
    </message>
    <message>
        <source>No graphics card takes part.</source>
        <translation>Aucune carte graphique ne participe.</translation>
    </message>
    <message>
        <source>Replan everything</source>
        <translation>Tout replanifier</translation>
    </message>
    <message>
        <source>Move %1</source>
        <translation>Déplacer %1</translation>
    </message>
    <message>
        <source>← →</source>
        <translation>← →</translation>
    </message>
    <message>
        <source>where to</source>
        <translation>où</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Entrée</translation>
    </message>
    <message>
        <source>lets it go there</source>
        <translation>l’y dépose</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Échap</translation>
    </message>
    <message>
        <source>leaves it where it is</source>
        <translation>le laisse en place</translation>
    </message>
    <message>
        <source>a reply runs: changes follow it</source>
        <translation>une réponse est en cours : les changements suivront</translation>
    </message>
    <message>
        <source>loading: changes wait for its end</source>
        <translation>chargement : les changements attendent la fin</translation>
    </message>
    <message>
        <source>Applies after this reply</source>
        <translation>Suivra cette réponse</translation>
    </message>
    <message>
        <source>Apply after this reply</source>
        <translation>Appliquer après cette réponse</translation>
    </message>
    <message>
        <source>It is being applied</source>
        <translation>En cours d’application</translation>
    </message>
    <message>
        <source>The plan is being made</source>
        <translation>Le plan est en préparation</translation>
    </message>
    <message>
        <source>The weights are not in the folder: this can be planned, not loaded</source>
        <translation>Les poids ne sont pas dans le dossier : on peut planifier, pas charger</translation>
    </message>
    <message>
        <source>Nothing to apply: what is loaded sits like this</source>
        <translation>Rien à appliquer : ce qui est chargé est déjà placé ainsi</translation>
    </message>
    <message>
        <source>It does not fit: see the message above</source>
        <translation>Cela ne tient pas : voir le message au-dessus</translation>
    </message>
    <message>
        <source>Something is being loaded or moved; apply when it is done</source>
        <translation>Un chargement ou un déplacement est en cours ; appliquez ensuite</translation>
    </message>
    <message>
        <source>Waits for the reply; press to take it back</source>
        <translation>Attend la réponse ; appuyez pour annuler</translation>
    </message>
    <message>
        <source>A reply is being written with the present layout; this follows as soon as it is finished</source>
        <translation>Une réponse est en train de s’écrire avec le placement actuel ; ceci suivra dès qu’elle sera finie</translation>
    </message>
    <message>
        <source>Weights in 4 bits</source>
        <translation>Poids en 4 bits</translation>
    </message>
    <message>
        <source>Use 4 bits</source>
        <translation>Passer en 4 bits</translation>
    </message>
    <message>
        <source>Do this first</source>
        <translation>Faire cela d’abord</translation>
    </message>
    <message>
        <source>This model&apos;s head has values of its own: it cannot be one table with the embedding.</source>
        <translation>La tête de ce modèle a ses propres valeurs : elle ne peut pas partager une table avec le plongement.</translation>
    </message>
    <message>
        <source>Load anyway</source>
        <translation>Charger quand même</translation>
    </message>
    <message>
        <source>Run it on a server …</source>
        <translation>L&apos;exécuter sur un serveur …</translation>
    </message>
    <message>
        <source>The routed experts of all layers on the CPU, the rest on the GPU</source>
        <translation>Les experts de toutes les couches sur le CPU, le reste sur le GPU</translation>
    </message>
    <message>
        <source>Copy as picture</source>
        <translation>Copier comme image</translation>
    </message>
    <message>
        <source>Save picture …</source>
        <translation>Enregistrer l’image…</translation>
    </message>
    <message>
        <source>%1 · %2 tokens of context</source>
        <translation>%1 · %2 jetons de contexte</translation>
    </message>
    <message>
        <source>Copied as a picture.</source>
        <translation>Copié comme image.</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Enregistrer l’image</translation>
    </message>
    <message>
        <source>Pictures (*.png)</source>
        <translation>Images (*.png)</translation>
    </message>
    <message>
        <source>Simulated %1</source>
        <translation>Simulé : %1</translation>
    </message>
    <message>
        <source>Point at a block to read what it is.</source>
        <translation>Pointez un bloc pour lire ce qu’il est.</translation>
    </message>
    <message>
        <source>%1, bounded by %2</source>
        <translation>%1, limité par %2</translation>
    </message>
    <message>
        <source>the card&apos;s memory</source>
        <translation>la mémoire de la carte</translation>
    </message>
    <message>
        <source>main memory</source>
        <translation>la mémoire vive</translation>
    </message>
    <message>
        <source>the processor</source>
        <translation>le processeur</translation>
    </message>
    <message>
        <source>the way to the card (PCIe)</source>
        <translation>le trajet vers la carte (PCIe)</translation>
    </message>
    <message>
        <source>the disk</source>
        <translation>le disque</translation>
    </message>
    <message>
        <source>the steps between layers</source>
        <translation>les étapes entre les couches</translation>
    </message>
    <message>
        <source>Search a card</source>
        <translation>Chercher une carte</translation>
    </message>
    <message>
        <source>Draw what fits …</source>
        <translation>Dessiner ce qui tient…</translation>
    </message>
    <message>
        <source>no speed is told for this card</source>
        <translation>aucune vitesse n’est donnée pour cette carte</translation>
    </message>
</context>
<context>
    <name>ui::Library</name>
    <message>
        <source>half a download</source>
        <translation>téléchargement partiel</translation>
    </message>
    <message>
        <source>PyTorch file</source>
        <translation>fichier PyTorch</translation>
    </message>
    <message>
        <source>MLX</source>
        <translation>MLX</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>non pris en charge</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>endommagé</translation>
    </message>
    <message>
        <source>cannot be used</source>
        <translation>inutilisable</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adaptateur</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rang %1</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 paramètres</translation>
    </message>
    <message>
        <source>Hugging Face cache</source>
        <translation>cache Hugging Face</translation>
    </message>
    <message>
        <source>your folder</source>
        <translation>votre dossier</translation>
    </message>
    <message>
        <source>recent</source>
        <translation>récent</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>tient</translation>
    </message>
    <message>
        <source>fits when fitted</source>
        <translation>tient, ajusté</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>ne tient pas</translation>
    </message>
    <message>
        <source>It does not say for which model it was made.</source>
        <translation>Il ne dit pas pour quel modèle il a été fait.</translation>
    </message>
    <message>
        <source>Made for %1.</source>
        <translation>Fait pour %1.</translation>
    </message>
    <message>
        <source>Fits this computer as it is stored.</source>
        <translation>Tient sur cet ordinateur tel que stocké.</translation>
    </message>
    <message>
        <source>Fits this computer when parts are moved or packed in 4 bits: the placement “Best fit” does that.</source>
        <translation>Tient sur cet ordinateur si des parties sont déplacées ou compactées en 4 bits : le placement « Au mieux » le fait.</translation>
    </message>
    <message>
        <source>Does not fit this computer, also not in 4 bits.</source>
        <translation>Ne tient pas sur cet ordinateur, même en 4 bits.</translation>
    </message>
    <message>
        <source>Whether it fits is not known yet.</source>
        <translation>On ne sait pas encore s’il tient.</translation>
    </message>
    <message>
        <source>It takes %1 of memory.</source>
        <translation>Il occupe %1 de mémoire.</translation>
    </message>
</context>
<context>
    <name>ui::LibraryModel</name>
    <message>
        <source>Models</source>
        <translation>Modèles</translation>
    </message>
    <message>
        <source>Adapters whose model is not here</source>
        <translation>Adaptateurs dont le modèle n’est pas ici</translation>
    </message>
    <message>
        <source>Cannot be used as they are</source>
        <translation>Inutilisables tels quels</translation>
    </message>
</context>
<context>
    <name>ui::LibraryPage</name>
    <message>
        <source>Filter by name, size, place</source>
        <translation>Filtrer par nom, taille, lieu</translation>
    </message>
    <message>
        <source>Filter the library</source>
        <translation>Filtrer la bibliothèque</translation>
    </message>
    <message>
        <source>&amp;Folders…</source>
        <translation>&amp;Dossiers…</translation>
    </message>
    <message>
        <source>Folders of yours in which models are looked for</source>
        <translation>Vos dossiers où l’on cherche des modèles</translation>
    </message>
    <message>
        <source>Models and adapters on this computer</source>
        <translation>Modèles et adaptateurs sur cet ordinateur</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Charger</translation>
    </message>
    <message>
        <source>Load &amp;options…</source>
        <translation>&amp;Options de chargement…</translation>
    </message>
    <message>
        <source>&amp;Show in folder</source>
        <translation>&amp;Montrer dans le dossier</translation>
    </message>
    <message>
        <source>&amp;Delete…</source>
        <translation>&amp;Supprimer…</translation>
    </message>
    <message>
        <source>&amp;Get a model</source>
        <translation>&amp;Obtenir un modèle</translation>
    </message>
    <message>
        <source>&amp;Add a folder…</source>
        <translation>&amp;Ajouter un dossier…</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ajouter un dossier…</translation>
    </message>
    <message>
        <source>Looked in as well; choose one to take it out</source>
        <translation>Aussi parcourus ; en choisir un le retire</translation>
    </message>
    <message>
        <source>S&amp;top looking</source>
        <translation>A&amp;rrêter</translation>
    </message>
    <message>
        <source>L&amp;ook again</source>
        <translation>&amp;Chercher encore</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Recherche de modèles…</translation>
    </message>
    <message>
        <source>No models were found in the folders of Hugging Face, LM Studio and llama.cpp. Get one, or tell where yours are.</source>
        <translation>Aucun modèle trouvé dans les dossiers de Hugging Face, LM Studio et llama.cpp. Obtenez-en un, ou dites où sont les vôtres.</translation>
    </message>
    <message numerus="yes">
        <source>Looking… %n found</source>
        <translation>
            <numerusform>Recherche… %n trouvé</numerusform>
            <numerusform>Recherche… %n trouvés</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing matches the filter.</source>
        <translation>Rien ne correspond au filtre.</translation>
    </message>
    <message>
        <source>Looking was stopped; there may be more.</source>
        <translation>La recherche a été arrêtée ; il peut y en avoir d’autres.</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>&amp;Add to the model</source>
        <translation>&amp;Ajouter au modèle</translation>
    </message>
    <message>
        <source>Adapters &amp;for it…</source>
        <translation>Adaptateurs &amp;pour lui…</translation>
    </message>
    <message>
        <source>&amp;Get the rest…</source>
        <translation>&amp;Obtenir le reste…</translation>
    </message>
</context>
<context>
    <name>ui::MainWindow</name>
    <message>
        <source>GGUF files (*.gguf);;All files (*)</source>
        <translation>Fichiers GGUF (*.gguf);;Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>Choose a model’s GGUF file</source>
        <translation>Choisir le fichier GGUF d’un modèle</translation>
    </message>
    <message>
        <source>Belfry</source>
        <translation>Belfry</translation>
    </message>
    <message>
        <source>Settings and help</source>
        <translation>Réglages et aide</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Discussion</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>Placement</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>Les deux</translation>
    </message>
    <message>
        <source>%1 - Belfry</source>
        <translation>%1 – Belfry</translation>
    </message>
    <message>
        <source>Choose a Gemma 4 model folder</source>
        <translation>Choisir un dossier de modèle Gemma 4</translation>
    </message>
    <message>
        <source>Choose an adapter: a GGUF file, or the adapter_config.json of a PEFT folder</source>
        <translation>Choisir un adaptateur : un fichier GGUF, ou l&apos;adapter_config.json d&apos;un dossier PEFT</translation>
    </message>
    <message>
        <source>Adapters (adapter_config.json *.gguf)</source>
        <translation>Adaptateurs (adapter_config.json *.gguf)</translation>
    </message>
    <message>
        <source>Drop to attach to the next message</source>
        <translation>Déposer pour joindre au prochain message</translation>
    </message>
    <message>
        <source>Drop to add this adapter</source>
        <translation>Déposer pour ajouter cet adaptateur</translation>
    </message>
    <message>
        <source>Drop to choose this model</source>
        <translation>Déposer pour choisir ce modèle</translation>
    </message>
    <message>
        <source>Where is %1 now?</source>
        <translation>Où se trouve %1 maintenant ?</translation>
    </message>
    <message>
        <source>The graphics card still does not answer</source>
        <translation>La carte graphique ne répond toujours pas</translation>
    </message>
    <message>
        <source>Restart Belfry</source>
        <translation>Redémarrer Belfry</translation>
    </message>
    <message>
        <source>The graphics card stopped answering</source>
        <translation>La carte graphique ne répond plus</translation>
    </message>
    <message>
        <source>Loading again starts the engine anew; every part goes where it was, and the chat stays.</source>
        <translation>Recharger relance le moteur ; chaque partie retrouve sa place et la discussion reste.</translation>
    </message>
    <message>
        <source>Load again</source>
        <translation>Recharger</translation>
    </message>
    <message>
        <source>%1 cannot be attached: Belfry takes pictures (PNG, JPEG, WebP), sounds (WAV, FLAC, OGG, MP3), GGUF files and folders with a model or an adapter</source>
        <translation>%1 ne peut pas être joint : Belfry accepte des images (PNG, JPEG, WebP), des sons (WAV, FLAC, OGG, MP3), des fichiers GGUF et des dossiers contenant un modèle ou un adaptateur</translation>
    </message>
    <message>
        <source>Show the list of chats</source>
        <translation>Montrer la liste des discussions</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Drop to see what this file is</source>
        <translation>Déposez pour voir ce qu’est ce fichier</translation>
    </message>
    <message>
        <source>%1 is being loaded</source>
        <translation>%1 est en cours de chargement</translation>
    </message>
    <message>
        <source>Parts are being moved</source>
        <translation>Des parties sont en cours de déplacement</translation>
    </message>
    <message>
        <source>It goes on. Should it stop? What was there before stays.</source>
        <translation>Cela continue. Faut-il arrêter ? Ce qui était là reste.</translation>
    </message>
    <message>
        <source>Stop loading</source>
        <translation>Arrêter le chargement</translation>
    </message>
    <message>
        <source>Stop moving</source>
        <translation>Arrêter le déplacement</translation>
    </message>
    <message>
        <source>Loading of %1 was stopped</source>
        <translation>Le chargement de %1 a été arrêté</translation>
    </message>
    <message>
        <source>Moving was stopped</source>
        <translation>Le déplacement a été arrêté</translation>
    </message>
    <message>
        <source>By the Esc key.</source>
        <translation>Par la touche Échap.</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Reprendre</translation>
    </message>
    <message>
        <source>1 change waits for Apply</source>
        <translation>1 changement attend « Appliquer »</translation>
    </message>
    <message>
        <source>%1 changes wait for Apply</source>
        <translation>%1 changements attendent « Appliquer »</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1 : %2</translation>
    </message>
    <message>
        <source>Your chats are saved, also what there is of the reply. After a restart Belfry is where you are now: this chat, the same model, layout and adapters.</source>
        <translation>Vos conversations sont enregistrées, y compris ce qui est écrit de la réponse. Après un redémarrage, Belfry reprend là où vous êtes : cette conversation, le même modèle, le même placement et les mêmes adaptateurs.</translation>
    </message>
    <message>
        <source>Go on on the processor</source>
        <translation>Continuer sur le processeur</translation>
    </message>
    <message>
        <source>Everything runs on the processor for now</source>
        <translation>Pour l’instant, tout s’exécute sur le processeur</translation>
    </message>
    <message>
        <source>The graphics card is there again after a restart, with everything where it was.</source>
        <translation>La carte graphique sera de nouveau là après un redémarrage, avec tout à sa place.</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Aide</translation>
    </message>
    <message>
        <source>About Belfry</source>
        <translation>À propos de Belfry</translation>
    </message>
    <message>
        <source>The map %1 needs a model</source>
        <translation>La carte %1 a besoin d’un modèle</translation>
    </message>
    <message>
        <source>It says where the parts of a model go. Choose a model, then open the map again.</source>
        <translation>Elle dit où vont les parties d’un modèle. Choisissez un modèle, puis rouvrez la carte.</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Choisir un modèle</translation>
    </message>
    <message>
        <source>The profile %1 was saved</source>
        <translation>Le profil %1 a été enregistré</translation>
    </message>
    <message>
        <source>The profile %1 is chosen</source>
        <translation>Le profil %1 est choisi</translation>
    </message>
    <message>
        <source>Load makes it true.</source>
        <translation>« Charger » l’applique.</translation>
    </message>
    <message>
        <source>The adapters of the profile %1 were not added</source>
        <translation>Les adaptateurs du profil %1 n’ont pas été ajoutés</translation>
    </message>
    <message>
        <source>Another model is loaded than the one that is chosen. Load it, then choose the profile again.</source>
        <translation>Le modèle chargé n’est pas celui qui est choisi. Chargez-le, puis choisissez de nouveau le profil.</translation>
    </message>
    <message>
        <source>Load anyway</source>
        <translation>Charger quand même</translation>
    </message>
    <message>
        <source>Options…</source>
        <translation>Options…</translation>
    </message>
    <message>
        <source>See where each part of the model sits</source>
        <translation>Voyez où se trouve chaque partie du modèle</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>Me montrer</translation>
    </message>
    <message>
        <source>Give the demo another way to answer</source>
        <translation>Faites répondre le modèle de démonstration autrement</translation>
    </message>
    <message>
        <source>An adapter is a small file that changes a model. The demo has one of its own: it acts on the next answer, without loading again.</source>
        <translation>Un adaptateur est un petit fichier qui modifie un modèle. Le modèle de démonstration a le sien : il agit sur la prochaine réponse, sans rechargement.</translation>
    </message>
    <message>
        <source>Add it</source>
        <translation>L’ajouter</translation>
    </message>
    <message>
        <source>Compare with and without the adapter</source>
        <translation>Comparez avec et sans l’adaptateur</translation>
    </message>
    <message>
        <source>One question, both answers side by side, from one model in memory.</source>
        <translation>Une question, les deux réponses côte à côte, d’un seul modèle en mémoire.</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Comparer</translation>
    </message>
    <message>
        <source>Skip the tour</source>
        <translation>Passer la visite</translation>
    </message>
    <message>
        <source>Other programs…</source>
        <translation>Autres programmes…</translation>
    </message>
    <message>
        <source>Connect to a server…</source>
        <translation>Se connecter à un serveur…</translation>
    </message>
    <message>
        <source>A folder in which models are</source>
        <translation>Un dossier où se trouvent des modèles</translation>
    </message>
    <message>
        <source>%1 is here, whole and checked</source>
        <translation>%1 est là, entier et vérifié</translation>
    </message>
    <message>
        <source>Add to the model</source>
        <translation>Ajouter au modèle</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Charger</translation>
    </message>
    <message>
        <source>Choose the folder of the drafting assistant</source>
        <translation>Choisir le dossier de l&apos;assistant de brouillons</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>Every part is a block that you can drag, here on a small card that is only simulated. The answers stay the same.</source>
        <translation>Chaque partie est un bloc que vous pouvez déplacer, ici sur une petite carte seulement simulée. Les réponses restent les mêmes.</translation>
    </message>
    <message>
        <source>A simulated card of %1, %2 % full</source>
        <translation>Une carte simulée de %1, pleine à %2 %</translation>
    </message>
    <message>
        <source>Drag the vision tower onto the CPU and watch it leave the bar at the right.</source>
        <translation>Déplacez la tour de vision sur le CPU et voyez-la quitter la barre à droite.</translation>
    </message>
    <message>
        <source>The tower has left the bar</source>
        <translation>La tour a quitté la barre</translation>
    </message>
    <message>
        <source>Now drag the audio tower onto the card: its room to compute is too much for it.</source>
        <translation>Déplacez maintenant la tour audio sur la carte : son espace de calcul est trop grand pour elle.</translation>
    </message>
    <message>
        <source>And your card?</source>
        <translation>Et votre carte ?</translation>
    </message>
    <message>
        <source>Gemma 4 E2B, planned for your %1. Other cards are in the menu What if.</source>
        <translation>Gemma 4 E2B, planifié pour votre %1. D’autres cartes sont dans le menu Et si.</translation>
    </message>
    <message>
        <source>Gemma 4 E2B, planned for a card of %1 GiB (%2). Yours is in the menu What if.</source>
        <translation>Gemma 4 E2B, planifié pour une carte de %1 Gio (%2). La vôtre est dans le menu Et si.</translation>
    </message>
    <message>
        <source>Show Gemma 4 E2B</source>
        <translation>Montrer Gemma 4 E2B</translation>
    </message>
    <message>
        <source>Kept for when it is here: %1, %2 tokens</source>
        <translation>Gardé pour quand il sera là : %1, %2 jetons</translation>
    </message>
    <message>
        <source>The new layout is in force</source>
        <translation>Le nouveau placement est en vigueur</translation>
    </message>
    <message>
        <source>Is the answer still the same, and what does it cost?</source>
        <translation>La réponse est-elle encore la même, et que coûte-t-elle ?</translation>
    </message>
    <message>
        <source>Ask the last question again</source>
        <translation>Reposer la dernière question</translation>
    </message>
</context>
<context>
    <name>ui::MemoryKind</name>
    <message>
        <source>layers</source>
        <translation>couches</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>experts</translation>
    </message>
    <message>
        <source>per-layer table</source>
        <translation>table par couche</translation>
    </message>
    <message>
        <source>head + words</source>
        <translation>tête + mots</translation>
    </message>
    <message>
        <source>vision</source>
        <translation>vision</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>audio</translation>
    </message>
    <message>
        <source>other weights</source>
        <translation>autres poids</translation>
    </message>
    <message>
        <source>adapter</source>
        <translation>adaptateur</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>cache KV</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>espace de travail</translation>
    </message>
    <message>
        <source>driver</source>
        <translation>pilote</translation>
    </message>
    <message>
        <source>The model itself: every token reads all of it.</source>
        <translation>Le modèle lui-même : chaque jeton le lit en entier.</translation>
    </message>
    <message>
        <source>Specialists, of which each token uses a few.</source>
        <translation>Des spécialistes, dont chaque jeton utilise quelques-uns.</translation>
    </message>
    <message>
        <source>A look-up table, of which each token reads one row.</source>
        <translation>Une table de consultation, dont chaque jeton lit une ligne.</translation>
    </message>
    <message>
        <source>The list of words: one row is read on the way in, all of it to choose the next word.</source>
        <translation>La liste des mots : une ligne est lue à l’entrée, la totalité pour choisir le mot suivant.</translation>
    </message>
    <message>
        <source>Turns pictures into tokens; text alone never uses it.</source>
        <translation>Transforme les images en jetons ; le texte seul ne s’en sert jamais.</translation>
    </message>
    <message>
        <source>Turns sounds into tokens; text alone never uses it.</source>
        <translation>Transforme les sons en jetons ; le texte seul ne s’en sert jamais.</translation>
    </message>
    <message>
        <source>Small pieces between the others, and the drafting assistant.</source>
        <translation>De petites pièces entre les autres, et l’assistant de brouillons.</translation>
    </message>
    <message>
        <source>The small matrices of adapters, computed beside the weights, which stay as they are.</source>
        <translation>Les petites matrices des adaptateurs, calculées à côté des poids, qui restent tels quels.</translation>
    </message>
    <message>
        <source>Attention memory: what the model keeps of the chat. A shorter context takes less.</source>
        <translation>Mémoire d’attention : ce que le modèle garde de la conversation. Un contexte plus court prend moins.</translation>
    </message>
    <message>
        <source>Room to compute: what lies between two layers while a prompt, a picture or a sound is read.</source>
        <translation>Espace de calcul : ce qui se trouve entre deux couches pendant la lecture d’une invite, d’une image ou d’un son.</translation>
    </message>
    <message>
        <source>What the card&apos;s driver needs to run programs on it.</source>
        <translation>Ce dont le pilote de la carte a besoin pour y exécuter des programmes.</translation>
    </message>
</context>
<context>
    <name>ui::MemoryMeter</name>
    <message>
        <source>Memory</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <source>No model is loaded or planned.</source>
        <translation>Aucun modèle n&apos;est chargé ni prévu.</translation>
    </message>
    <message>
        <source>used by Belfry %1</source>
        <translation>pris par Belfry %1</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>prévu %1</translation>
    </message>
    <message>
        <source>other programs %1</source>
        <translation>autres programmes %1</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>sur %1</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>limite %1</translation>
    </message>
    <message>
        <source>driver (assumed)</source>
        <translation>pilote (supposé)</translation>
    </message>
    <message>
        <source>budget of the system %1</source>
        <translation>budget du système %1</translation>
    </message>
    <message>
        <source>Not this computer</source>
        <translation>Pas cet ordinateur</translation>
    </message>
    <message>
        <source>set aside %1</source>
        <translation>réservé %1</translation>
    </message>
    <message>
        <source>planned %1, now %2</source>
        <translation>planifié %1, maintenant %2</translation>
    </message>
    <message>
        <source>Copies of %1 of %2 experts take %3 % of a token&apos;s choices</source>
        <translation>Les copies de %1 experts sur %2 servent %3 % des choix d’un token</translation>
    </message>
    <message>
        <source>%1 GB/s come from main memory</source>
        <translation>%1 Go/s viennent de la mémoire vive</translation>
    </message>
    <message>
        <source>%1; with one GiB more %2 %</source>
        <translation>%1 ; avec un Gio de plus, %2 %</translation>
    </message>
    <message>
        <source>predicted %1, measured %2</source>
        <translation>prévu %1, mesuré %2</translation>
    </message>
</context>
<context>
    <name>ui::MessageBlock</name>
    <message>
        <source>code</source>
        <translation>code</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>file not found</source>
        <translation>fichier introuvable</translation>
    </message>
    <message>
        <source>no preview</source>
        <translation>pas d&apos;aperçu</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <comment>version shown / number of versions</comment>
        <translation>%1 / %2</translation>
    </message>
</context>
<context>
    <name>ui::MessageItem</name>
    <message>
        <source>Thinking…</source>
        <translation>Réfléchit…</translation>
    </message>
    <message>
        <source>Thoughts (words: about %1)</source>
        <translation>Réflexions (mots : environ %1)</translation>
    </message>
    <message>
        <source>media: %1</source>
        <translation>médias : %1</translation>
    </message>
    <message>
        <source>%1 tokens/s</source>
        <translation>%1 jetons/s</translation>
    </message>
    <message>
        <source>first token %1</source>
        <translation>premier jeton %1</translation>
    </message>
    <message>
        <source>Esc stops</source>
        <translation>Échap arrête</translation>
    </message>
    <message>
        <source>stopped by you</source>
        <translation>arrêtée par vous</translation>
    </message>
    <message>
        <source>stopped at the token limit of this chat</source>
        <translation>arrêtée à la limite de jetons de cette discussion</translation>
    </message>
    <message>
        <source>stopped: the context is full</source>
        <translation>arrêtée : le contexte est plein</translation>
    </message>
    <message>
        <source>cut short before its end</source>
        <translation>coupée avant la fin</translation>
    </message>
    <message>
        <source>left out above: the model no longer sees it</source>
        <translation>omis au-dessus : le modèle ne le voit plus</translation>
    </message>
    <message>
        <source>Thinking… %1</source>
        <translation>Réflexion… %1</translation>
    </message>
    <message>
        <source>Thought for %1 (words: about %2)</source>
        <translation>Réflexion : %1 (mots : environ %2)</translation>
    </message>
    <message>
        <source>answered by %1</source>
        <translation>réponse de %1</translation>
    </message>
    <message>
        <source>edited by you</source>
        <translation>modifié par vous</translation>
    </message>
</context>
<context>
    <name>ui::MessageList</name>
    <message>
        <source>Conversation</source>
        <translation>Conversation</translation>
    </message>
    <message>
        <source>Scroll the conversation</source>
        <translation>Faire défiler la conversation</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>Copier le message</translation>
    </message>
    <message>
        <source>Edit and resend</source>
        <translation>Modifier et renvoyer</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>Supprimer le message</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
    <message>
        <source>Copy selection</source>
        <translation>Copier la sélection</translation>
    </message>
    <message>
        <source>Copy link</source>
        <translation>Copier le lien</translation>
    </message>
    <message>
        <source>Copy last code block</source>
        <translation>Copier le dernier bloc de code</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>Ouvrir %1</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>Régénérer</translation>
    </message>
    <message>
        <source>Fold thoughts</source>
        <translation>Replier les réflexions</translation>
    </message>
    <message>
        <source>Show thoughts</source>
        <translation>Montrer les réflexions</translation>
    </message>
    <message>
        <source>Delete question and reply</source>
        <translation>Supprimer la question et la réponse</translation>
    </message>
    <message>
        <source>Delete reply</source>
        <translation>Supprimer la réponse</translation>
    </message>
    <message>
        <source>Continue this reply</source>
        <translation>Continuer cette réponse</translation>
    </message>
    <message>
        <source>Regenerate this reply</source>
        <translation>Régénérer cette réponse</translation>
    </message>
    <message>
        <source>Version before</source>
        <translation>Version précédente</translation>
    </message>
    <message>
        <source>Version after</source>
        <translation>Version suivante</translation>
    </message>
    <message>
        <source>Up and Down walk over the messages, the context menu has their actions; Enter plays the sound of a message</source>
        <translation>Haut et Bas parcourent les messages, le menu contextuel contient leurs actions ; Entrée lit le son d’un message</translation>
    </message>
    <message>
        <source>Pause %1</source>
        <translation>Suspendre %1</translation>
    </message>
    <message>
        <source>Play %1</source>
        <translation>Lire %1</translation>
    </message>
    <message>
        <source>Copy formula (LaTeX)</source>
        <translation>Copier la formule (LaTeX)</translation>
    </message>
    <message>
        <source>Edit the reply</source>
        <translation>Modifier la réponse</translation>
    </message>
    <message>
        <source>Go on from here in a chat of its own</source>
        <translation>Continuer à partir d’ici dans une discussion à part</translation>
    </message>
</context>
<context>
    <name>ui::MeterCanvas</name>
    <message>
        <source>Memory of every device appears here once a model is chosen: what is used, what a layout would use, and by whom.</source>
        <translation>La mémoire de chaque appareil apparaît ici dès qu&apos;un modèle est choisi : ce qui est pris, ce qu&apos;un placement prendrait, et par qui.</translation>
    </message>
    <message>
        <source>free</source>
        <translation>libre</translation>
    </message>
    <message>
        <source>other programs</source>
        <translation>autres programmes</translation>
    </message>
    <message>
        <source>%1 · measured</source>
        <translation>%1 · mesuré</translation>
    </message>
    <message>
        <source>%1 · planned</source>
        <translation>%1 · prévu</translation>
    </message>
    <message>
        <source>Last minute</source>
        <translation>Dernière minute</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>prévu %1</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>nothing is read from it while running</source>
        <translation>rien n&apos;y est lu pendant la marche</translation>
    </message>
    <message>
        <source>%1 read when needed</source>
        <translation>%1 lus au besoin</translation>
    </message>
    <message>
        <source>Once a model is chosen, what a layout would use stands here beside what is used.</source>
        <translation>Dès qu’un modèle est choisi, ce qu’un placement occuperait figure ici à côté de ce qui est occupé.</translation>
    </message>
    <message>
        <source>0 to %1</source>
        <translation>0 à %1</translation>
    </message>
    <message>
        <source>the system&apos;s budget</source>
        <translation>budget du système</translation>
    </message>
    <message>
        <source>Not this computer</source>
        <translation>Pas cet ordinateur</translation>
    </message>
    <message>
        <source>%1 of main memory are assumed. A part of each memory is set aside for the system and other programs.</source>
        <translation>%1 de mémoire vive sont supposés. Une part de chaque mémoire est réservée au système et aux autres programmes.</translation>
    </message>
    <message>
        <source>set aside</source>
        <translation>réservé</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>limite %1</translation>
    </message>
</context>
<context>
    <name>ui::ModelButton</name>
    <message>
        <source>Choose a model</source>
        <translation>Choisir un modèle</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>%1 paramètres</translation>
    </message>
    <message>
        <source>text</source>
        <translation>texte</translation>
    </message>
    <message>
        <source>image</source>
        <translation>image</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>audio</translation>
    </message>
    <message>
        <source>Model: %1</source>
        <translation>Modèle : %1</translation>
    </message>
    <message>
        <source>Opens the list of models and the load options</source>
        <translation>Ouvre la liste des modèles et les options de chargement</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modèles et options de chargement</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>chargé</translation>
    </message>
    <message>
        <source>connected</source>
        <translation>connecté</translation>
    </message>
</context>
<context>
    <name>ui::ModelPanel</name>
    <message>
        <source>A model in one file, as llama.cpp, LM Studio and Ollama use it</source>
        <translation>Un modèle en un seul fichier, comme llama.cpp, LM Studio et Ollama l’utilisent</translation>
    </message>
    <message>
        <source>Choose a GGUF fil&amp;e…</source>
        <translation>Choisir un fichi&amp;er GGUF…</translation>
    </message>
    <message>
        <source>Models and load options</source>
        <translation>Modèles et options de chargement</translation>
    </message>
    <message>
        <source>Choose a &amp;folder…</source>
        <translation>Choisir un &amp;dossier …</translation>
    </message>
    <message>
        <source>&amp;Demo model</source>
        <translation>Modèle de &amp;démo</translation>
    </message>
    <message>
        <source>The small model that comes with Belfry</source>
        <translation>Le petit modèle fourni avec Belfry</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Récents</translation>
    </message>
    <message>
        <source>Recent models</source>
        <translation>Modèles récents</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Placement</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Poids</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contexte</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Carte graphique</translation>
    </message>
    <message>
        <source>What this computer has</source>
        <translation>Ce que cet ordinateur a</translation>
    </message>
    <message>
        <source>Simulated, %1</source>
        <translation>Simulée, %1</translation>
    </message>
    <message>
        <source>A simulated card computes on the processor inside a hard memory limit: try layouts without the card</source>
        <translation>Une carte simulée calcule sur le processeur dans une limite de mémoire stricte : essayez des placements sans la carte</translation>
    </message>
    <message>
        <source>&amp;Placement</source>
        <translation>&amp;Placement</translation>
    </message>
    <message>
        <source>&amp;Weights</source>
        <translation>Po&amp;ids</translation>
    </message>
    <message>
        <source>Conte&amp;xt</source>
        <translation>Conte&amp;xte</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>Cache KV</translation>
    </message>
    <message>
        <source>8 bits</source>
        <translation>8 bits</translation>
    </message>
    <message>
        <source>What the model keeps of the conversation. In 8 bits it takes about half the memory; answers can change a little.</source>
        <translation>Ce que le modèle garde de la conversation. En 8 bits, il occupe environ la moitié de la mémoire ; les réponses peuvent changer un peu.</translation>
    </message>
    <message>
        <source>&amp;KV cache</source>
        <translation>Cache &amp;KV</translation>
    </message>
    <message>
        <source>&amp;Graphics card</source>
        <translation>Carte &amp;graphique</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Charger</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 jetons</translation>
    </message>
    <message numerus="yes">
        <source>%n simulated cards</source>
        <translation>
            <numerusform>%n carte simulée</numerusform>
            <numerusform>%n cartes simulées</numerusform>
        </translation>
    </message>
    <message>
        <source>text</source>
        <translation>texte</translation>
    </message>
    <message>
        <source>images</source>
        <translation>images</translation>
    </message>
    <message>
        <source>audio</source>
        <translation>audio</translation>
    </message>
    <message>
        <source>Reading %1 …</source>
        <translation>Lecture de %1 …</translation>
    </message>
    <message>
        <source>%1 cannot be used.</source>
        <translation>%1 ne peut pas être utilisé.</translation>
    </message>
    <message>
        <source>Re&amp;load</source>
        <translation>Re&amp;charger</translation>
    </message>
    <message>
        <source>This does not fit.</source>
        <translation>Cela ne tient pas.</translation>
    </message>
    <message>
        <source>%1: %2 of %3</source>
        <translation>%1 : %2 sur %3</translation>
    </message>
    <message>
        <source>Fits. %1</source>
        <translation>Tient. %1</translation>
    </message>
    <message>
        <source>Choose a Gemma 4 model folder</source>
        <translation>Choisir un dossier de modèle Gemma 4</translation>
    </message>
    <message>
        <source>Lo&amp;cate…</source>
        <translation>&amp;Localiser…</translation>
    </message>
    <message>
        <source>Tell where the folder is now</source>
        <translation>Indiquer où se trouve le dossier maintenant</translation>
    </message>
    <message>
        <source>Re&amp;move from the list</source>
        <translation>Reti&amp;rer de la liste</translation>
    </message>
    <message>
        <source>Forget this folder; no file is deleted</source>
        <translation>Oublier ce dossier ; aucun fichier n’est supprimé</translation>
    </message>
    <message>
        <source>Gemma 4, not one of the published sizes</source>
        <translation>Gemma 4, hors des tailles publiées</translation>
    </message>
    <message>
        <source>Gemma 4 %1</source>
        <translation>Gemma 4 %1</translation>
    </message>
    <message>
        <source>Not loaded. %1 answers until it is.</source>
        <translation>Non chargé. D’ici là, %1 répond.</translation>
    </message>
    <message>
        <source>%1 · %2 parameters · would be %3 on disk · %4
Understands %5 · up to %6 tokens</source>
        <translation>%1 · %2 paramètres · prendrait %3 sur le disque · %4
Comprend %5 · jusqu’à %6 tokens</translation>
    </message>
    <message>
        <source>%1 · %2 parameters · %3 on disk · %4
Understands %5 · up to %6 tokens</source>
        <translation>%1 · %2 paramètres · %3 sur le disque · %4
Comprend %5 · jusqu’à %6 tokens</translation>
    </message>
    <message>
        <source>%1, about %2 tokens/s</source>
        <translation>%1, environ %2 jetons/s</translation>
    </message>
    <message>
        <source>%1, which does not fit</source>
        <translation>%1, ce qui ne tient pas</translation>
    </message>
    <message>
        <source>The vision and the audio tower stay in the files and take no memory. Pictures and sounds cannot be read then; loading without this option brings them back.</source>
        <translation>Les tours de vision et audio restent dans les fichiers et ne prennent pas de mémoire. Images et sons ne peuvent alors pas être lus ; un chargement sans cette option les ramène.</translation>
    </message>
    <message>
        <source>Use &amp;4 bits</source>
        <translation>Passer en &amp;4 bits</translation>
    </message>
    <message>
        <source>&amp;Load anyway</source>
        <translation>&amp;Charger quand même</translation>
    </message>
    <message>
        <source>&amp;Text only</source>
        <translation>&amp;Texte seul</translation>
    </message>
    <message>
        <source>&amp;Text only: saves %1</source>
        <translation>&amp;Texte seul : économise %1</translation>
    </message>
    <message>
        <source>&amp;Text only: would save %1</source>
        <translation>&amp;Texte seul : économiserait %1</translation>
    </message>
    <message>
        <source>In 4 bits: %1.
As stored: %2.</source>
        <translation>En 4 bits : %1.
Tel quel : %2.</translation>
    </message>
    <message>
        <source>Ser&amp;ver…</source>
        <translation>Ser&amp;veur…</translation>
    </message>
    <message>
        <source>Let a model on another computer answer</source>
        <translation>Laisser répondre un modèle sur un autre ordinateur</translation>
    </message>
    <message>
        <source>&amp;Run it on a server…</source>
        <translation>L&apos;exécute&amp;r sur un serveur…</translation>
    </message>
    <message>
        <source>Asking %1 …</source>
        <translation>Question à %1 …</translation>
    </message>
    <message>
        <source>On %1: what you write and attach is sent there.
Up to %2 tokens</source>
        <translation>Sur %1 : ce que vous écrivez et joignez y est envoyé.
Jusqu&apos;à %2 tokens</translation>
    </message>
    <message>
        <source>On %1: what you write and attach is sent there.</source>
        <translation>Sur %1 : ce que vous écrivez et joignez y est envoyé.</translation>
    </message>
    <message>
        <source>Re&amp;connect</source>
        <translation>Se re&amp;connecter</translation>
    </message>
    <message>
        <source>&amp;Connect</source>
        <translation>Se &amp;connecter</translation>
    </message>
    <message>
        <source>L&amp;ibrary…</source>
        <translation>B&amp;ibliothèque…</translation>
    </message>
    <message>
        <source>Models on this computer, and where to get more</source>
        <translation>Les modèles sur cet ordinateur, et où en obtenir</translation>
    </message>
    <message>
        <source>The one in the model&apos;s folder</source>
        <translation>Celui du dossier du modèle</translation>
    </message>
    <message>
        <source>Drafting assistant</source>
        <translation>Assistant de brouillons</translation>
    </message>
    <message>
        <source>A small model that guesses the next tokens, which the model checks several at a time. The text is the same; where it is slower, it leaves itself out.</source>
        <translation>Un petit modèle qui devine les jetons suivants ; le modèle en vérifie plusieurs à la fois. Le texte reste le même ; là où c&apos;est plus lent, il s&apos;abstient de lui-même.</translation>
    </message>
    <message>
        <source>Drafts a round</source>
        <translation>Brouillons par tour</translation>
    </message>
    <message>
        <source>As many as pay</source>
        <translation>Autant qu&apos;il est rentable</translation>
    </message>
    <message>
        <source>Drafting &amp;assistant</source>
        <translation>&amp;Assistant de brouillons</translation>
    </message>
    <message>
        <source>Drafts a rou&amp;nd</source>
        <translation>&amp;Brouillons par tour</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Utiliser</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Aucun</translation>
    </message>
    <message>
        <source>If there is one</source>
        <translation>S&apos;il y en a un</translation>
    </message>
    <message>
        <source>Choose a folder…</source>
        <translation>Choisir un dossier…</translation>
    </message>
    <message>
        <source>A drafting assistant for this model is there: it can make replies faster.</source>
        <translation>Un assistant de brouillons pour ce modèle est là : il peut accélérer les réponses.</translation>
    </message>
    <message>
        <source>It is asked again by itself while this window shows it.</source>
        <translation>Il est redemandé automatiquement tant que cette fenêtre le montre.</translation>
    </message>
    <message>
        <source>Not connected. %1 answers until it is.</source>
        <translation>Non connecté. D&apos;ici là, %1 répond.</translation>
    </message>
    <message>
        <source>&amp;Load here</source>
        <translation>&amp;Charger ici</translation>
    </message>
    <message>
        <source>16 bits</source>
        <translation>16 bits</translation>
    </message>
    <message>
        <source>%1 beside %2</source>
        <translation>%1 à côté de %2</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Beside 16 bits</source>
        <translation>À côté de 16 bits</translation>
    </message>
    <message>
        <source>same token</source>
        <translation>même jeton</translation>
    </message>
    <message>
        <source>KL</source>
        <translation>KL</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>mesuré</translation>
    </message>
</context>
<context>
    <name>ui::ModelsPage</name>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Retour</translation>
    </message>
    <message>
        <source>Back to chat and layout (Esc)</source>
        <translation>Retour au chat et à la disposition (Échap)</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothèque</translation>
    </message>
    <message>
        <source>Get a model</source>
        <translation>Obtenir un modèle</translation>
    </message>
    <message>
        <source>What fits</source>
        <translation>Ce qui tient</translation>
    </message>
</context>
<context>
    <name>ui::Note</name>
    <message>
        <source>Not everything fits on one device: the parts are where they cost the least time.</source>
        <translation>Tout ne tient pas sur un seul appareil : les parties sont là où elles coûtent le moins de temps.</translation>
    </message>
</context>
<context>
    <name>ui::NoticeBar</name>
    <message>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Show details of the message</source>
        <translation>Montrer les détails de l&apos;avis</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Écarter</translation>
    </message>
    <message>
        <source>Dismiss the message</source>
        <translation>Écarter l&apos;avis</translation>
    </message>
</context>
<context>
    <name>ui::NoticeStrip</name>
    <message>
        <source>Move parts to another device in the layout, choose 4 bits, or take a smaller context.</source>
        <translation>Déplacez des parties vers un autre appareil, choisissez 4 bits ou un contexte plus petit.</translation>
    </message>
    <message>
        <source>Notice</source>
        <translation>Avis</translation>
    </message>
    <message>
        <source>Copy this message</source>
        <translation>Copier cet avis</translation>
    </message>
    <message>
        <source>Dismiss this message</source>
        <translation>Écarter cet avis</translation>
    </message>
    <message>
        <source>The graphics card stopped answering. Load the model again; its layout and your chats are kept.</source>
        <translation>La carte graphique ne répond plus. Rechargez le modèle ; son placement et vos discussions sont conservés.</translation>
    </message>
    <message>
        <source>This is a fault in Belfry. Copy the %1 into a bug report.</source>
        <translation>C’est un défaut de Belfry. À copier dans un rapport d’anomalie : %1.</translation>
    </message>
    <message>
        <source>report</source>
        <translation>rapport</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Show details of the message</source>
        <translation>Montrer les détails de l’avis</translation>
    </message>
</context>
<context>
    <name>ui::OfferCard</name>
    <message>
        <source>does not fit as it is</source>
        <translation>ne tient pas tel quel</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>tient</translation>
    </message>
    <message>
        <source>Quantizations</source>
        <translation>Quantifications</translation>
    </message>
    <message>
        <source>(here)</source>
        <translation>(ici)</translation>
    </message>
    <message>
        <source>(%1 here)</source>
        <translation>(%1 ici)</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>et %n autre</numerusform>
            <numerusform>et %n autres</numerusform>
        </translation>
    </message>
    <message>
        <source>What if you had …</source>
        <translation>Et si vous aviez …</translation>
    </message>
    <message>
        <source>A graphics card to plan for</source>
        <translation>Une carte graphique pour laquelle planifier</translation>
    </message>
    <message>
        <source>Adapters &amp;for it…</source>
        <translation>Adaptateurs &amp;pour lui…</translation>
    </message>
    <message>
        <source>&amp;Open its page in the browser</source>
        <translation>&amp;Ouvrir sa page dans le navigateur</translation>
    </message>
    <message>
        <source>Up to %1 tokens of context</source>
        <translation>Jusqu’à %1 jetons de contexte</translation>
    </message>
    <message>
        <source>%1 at revision %2 (%3)</source>
        <translation>%1 à la révision %2 (%3)</translation>
    </message>
    <message>
        <source>This computer: %1</source>
        <translation>Cet ordinateur : %1</translation>
    </message>
    <message>
        <source>Belfry cannot use it: %1</source>
        <translation>Belfry ne peut pas l’utiliser : %1</translation>
    </message>
    <message>
        <source>Goes into %1</source>
        <translation>Va dans %1</translation>
    </message>
    <message>
        <source>Asking… &amp;stop</source>
        <translation>Demande… &amp;arrêter</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Réessayer</translation>
    </message>
    <message>
        <source>&amp;Look up files and bytes…</source>
        <translation>&amp;Consulter fichiers et octets…</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Charger</translation>
    </message>
    <message>
        <source>&amp;Download %1</source>
        <translation>&amp;Télécharger %1</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Réglages…</translation>
    </message>
    <message>
        <source>S&amp;ign in…</source>
        <translation>Se &amp;connecter…</translation>
    </message>
    <message>
        <source>Is being fetched</source>
        <translation>En cours de téléchargement</translation>
    </message>
    <message>
        <source>Is here</source>
        <translation>Est ici</translation>
    </message>
    <message>
        <source>&amp;Download %1 all the same</source>
        <translation>&amp;Télécharger quand même %1</translation>
    </message>
    <message>
        <source>Look at &amp;its base model, %1</source>
        <translation>Voir &amp;son modèle de base, %1</translation>
    </message>
    <message>
        <source>Read from its files: %1</source>
        <translation>Lu dans ses fichiers : %1</translation>
    </message>
    <message>
        <source>Dra&amp;w what fits…</source>
        <translation>Dessiner ce &amp;qui tient…</translation>
    </message>
</context>
<context>
    <name>ui::PictureView</name>
    <message>
        <source>Picture: %1</source>
        <translation>Image : %1</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>Lecture …</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Enregistrer…</translation>
    </message>
    <message>
        <source>Close the picture</source>
        <translation>Fermer l’image</translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation>Retour à la discussion (Échap)</translation>
    </message>
    <message>
        <source>This picture cannot be read.</source>
        <translation>Cette image ne peut pas être lue.</translation>
    </message>
    <message>
        <source>%1 × %2 pixels</source>
        <translation>%1 × %2 pixels</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Ajuster</translation>
    </message>
    <message>
        <source>Show every pixel</source>
        <translation>Montrer chaque pixel</translation>
    </message>
    <message>
        <source>Fit into the window</source>
        <translation>Ajuster à la fenêtre</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Enregistrer l’image</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Enregistrée</translation>
    </message>
    <message>
        <source>Could not be saved</source>
        <translation>N’a pas pu être enregistrée</translation>
    </message>
    <message>
        <source>Previous picture</source>
        <translation>Image précédente</translation>
    </message>
    <message>
        <source>Previous picture of the chat (Page up)</source>
        <translation>Image précédente de la discussion (Page préc.)</translation>
    </message>
    <message>
        <source>Next picture</source>
        <translation>Image suivante</translation>
    </message>
    <message>
        <source>Next picture of the chat (Page down)</source>
        <translation>Image suivante de la discussion (Page suiv.)</translation>
    </message>
    <message>
        <source>Smaller</source>
        <translation>Plus petit</translation>
    </message>
    <message>
        <source>Smaller (−)</source>
        <translation>Plus petit (−)</translation>
    </message>
    <message>
        <source>Larger</source>
        <translation>Plus grand</translation>
    </message>
    <message>
        <source>Larger (+, or the wheel)</source>
        <translation>Plus grand (+ ou la molette)</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Copy the picture (%1)</source>
        <translation>Copier l’image (%1)</translation>
    </message>
    <message>
        <source>Save the picture (%1)</source>
        <translation>Enregistrer l’image (%1)</translation>
    </message>
    <message>
        <source>%1 (%2 of %3)</source>
        <translation>%1 (%2 sur %3)</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Show every pixel (1)</source>
        <translation>Afficher chaque pixel (1)</translation>
    </message>
    <message>
        <source>Fit into the window (0)</source>
        <translation>Adapter à la fenêtre (0)</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Taille réelle</translation>
    </message>
</context>
<context>
    <name>ui::PlanOptionsDialog</name>
    <message>
        <source>Devices and options</source>
        <translation>Appareils et options</translation>
    </message>
    <message>
        <source>none</source>
        <translation>aucune</translation>
    </message>
    <message>
        <source>for example sim:0 = 6 GiB</source>
        <translation>par exemple sim:0 = 6 GiB</translation>
    </message>
    <message>
        <source> tokens</source>
        <translation> jetons</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatique</translation>
    </message>
    <message>
        <source>as the table (bf16)</source>
        <translation>comme la table (bf16)</translation>
    </message>
    <message>
        <source>8 bit</source>
        <translation>8 bits</translation>
    </message>
    <message>
        <source>4 bit (NF4)</source>
        <translation>4 bits (NF4)</translation>
    </message>
    <message>
        <source>Simulated GPUs</source>
        <translation>GPU simulés</translation>
    </message>
    <message>
        <source>+ %1 GiB</source>
        <translation>+ %1 Gio</translation>
    </message>
    <message>
        <source>Add a simulated GPU of %1 GiB</source>
        <translation>Ajouter un GPU simulé de %1 Gio</translation>
    </message>
    <message>
        <source>Limits</source>
        <translation>Limites</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Contexte</translation>
    </message>
    <message>
        <source>Precision of the weights</source>
        <translation>Précision des poids</translation>
    </message>
    <message>
        <source>Precision of the head</source>
        <translation>Précision de la tête</translation>
    </message>
    <message>
        <source>A simulated GPU is a hard memory limit with accounts of its own, computed on the processor: try a split, a limit or an out-of-memory without the card. These options need the model to be loaded again.</source>
        <translation>Un GPU simulé est une limite de mémoire stricte avec ses propres comptes, calculée sur le processeur : essayez un partage, une limite ou un manque de mémoire sans la carte. Ces options demandent de recharger le modèle.</translation>
    </message>
    <message>
        <source>Plan with this</source>
        <translation>Planifier avec cela</translation>
    </message>
    <message>
        <source>Simulated GPUs: expected sizes separated by commas, such as 8 GiB, 512 MiB.</source>
        <translation>GPU simulés : des tailles séparées par des virgules sont attendues, comme 8 GiB, 512 MiB.</translation>
    </message>
    <message>
        <source>At most %1 simulated GPUs.</source>
        <translation>Au plus %1 GPU simulés.</translation>
    </message>
    <message>
        <source>Limits: expected a device and a size, such as sim:0 = 6 GiB, cpu = 12 GiB.</source>
        <translation>Limites : un appareil et une taille sont attendus, comme sim:0 = 6 GiB, cpu = 12 GiB.</translation>
    </message>
    <message>
        <source>Limits: there is no %1 here.</source>
        <translation>Limites : %1 n’existe pas ici.</translation>
    </message>
    <message>
        <source>Names: %1</source>
        <translation>Noms : %1</translation>
    </message>
</context>
<context>
    <name>ui::PlanPicture</name>
    <message>
        <source>planned with Belfry</source>
        <translation>planifié avec Belfry</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>ne tient pas</translation>
    </message>
    <message>
        <source>about %1 tokens/s</source>
        <translation>environ %1 jetons/s</translation>
    </message>
    <message>
        <source>a picture %1</source>
        <translation>une image %1</translation>
    </message>
</context>
<context>
    <name>ui::ProfileMenu</name>
    <message>
        <source>Profiles of Belfry (*.belfry-profile.json)</source>
        <translation>Profils de Belfry (*.belfry-profile.json)</translation>
    </message>
    <message>
        <source>Pro&amp;files…</source>
        <translation>Pro&amp;fils…</translation>
    </message>
    <message>
        <source>Ways to load under a name: map, precision, context, adapters and sampling</source>
        <translation>Façons de charger sous un nom : carte, précision, contexte, adaptateurs et échantillonnage</translation>
    </message>
    <message>
        <source>&amp;Save the present choice…</source>
        <translation>&amp;Enregistrer le choix actuel…</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>&amp;Importer…</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>E&amp;xporter</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Supprimer</translation>
    </message>
    <message>
        <source>Save as a profile</source>
        <translation>Enregistrer comme profil</translation>
    </message>
    <message>
        <source>Name, for example “home card” or “laptop”. One of the same name is replaced.</source>
        <translation>Nom, par exemple « carte maison » ou « portable ». Un profil du même nom est remplacé.</translation>
    </message>
    <message>
        <source>Export the profile %1</source>
        <translation>Exporter le profil %1</translation>
    </message>
    <message>
        <source>Import a profile</source>
        <translation>Importer un profil</translation>
    </message>
</context>
<context>
    <name>ui::RecentModels</name>
    <message>
        <source>%1 in %2</source>
        <translation>%1 dans %2</translation>
    </message>
    <message>
        <source>%1 (missing)</source>
        <translation>%1 (absent)</translation>
    </message>
    <message>
        <source>%1 in %2, missing</source>
        <translation>%1 dans %2, absent</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 sur %2</translation>
    </message>
</context>
<context>
    <name>ui::RecordStrip</name>
    <message>
        <source>Keeping the recording…</source>
        <translation>Enregistrement du fichier…</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <translation>Ouverture du micro…</translation>
    </message>
    <message>
        <source>Recording %1 of %2</source>
        <translation>Enregistrement %1 sur %2</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Utiliser</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>Use the recording</source>
        <translation>Utiliser l’enregistrement</translation>
    </message>
    <message>
        <source>Try to record again</source>
        <translation>Réessayer d’enregistrer</translation>
    </message>
    <message>
        <source>End the recording and attach it</source>
        <translation>Terminer l’enregistrement et le joindre</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Cancel the recording</source>
        <translation>Abandonner l’enregistrement</translation>
    </message>
</context>
<context>
    <name>ui::RemovalDialog</name>
    <message>
        <source>Delete a model</source>
        <translation>Supprimer un modèle</translation>
    </message>
    <message>
        <source>Delete %1?</source>
        <translation>Supprimer %1 ?</translation>
    </message>
    <message numerus="yes">
        <source>%1 (%2 bytes) come back to the disk; %n files and folders go:</source>
        <translation>
            <numerusform>%1 (%2 octets) sont libérés ; %n fichier ou dossier disparaît :</numerusform>
            <numerusform>%1 (%2 octets) sont libérés ; %n fichiers et dossiers disparaissent :</numerusform>
        </translation>
    </message>
    <message>
        <source>It is loaded now. It goes on answering until it is ejected, and cannot be loaded again.</source>
        <translation>Il est chargé en ce moment. Il répond jusqu’à son éjection, et ne pourra plus être chargé.</translation>
    </message>
    <message>
        <source>Programs that use the same cache (transformers, vLLM and others) lose it as well.</source>
        <translation>Les programmes qui utilisent le même cache (transformers, vLLM et d’autres) le perdent aussi.</translation>
    </message>
    <message>
        <source>What else lies there stays: %1</source>
        <translation>Ce qui s’y trouve d’autre reste : %1</translation>
    </message>
    <message>
        <source>This cannot be undone.</source>
        <translation>Cela ne peut être annulé.</translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation>&amp;Garder</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Supprimer</translation>
    </message>
</context>
<context>
    <name>ui::ReplyNote</name>
    <message>
        <source>no drafts, as they reached only %1 times the speed</source>
        <translation>sans brouillons, car avec eux la vitesse n&apos;était que de %1 fois</translation>
    </message>
    <message>
        <source>no drafts, as they do not pay here</source>
        <translation>sans brouillons, car ils ne sont pas rentables ici</translation>
    </message>
    <message>
        <source>%1 tokens a round, %2 % of drafts right</source>
        <translation>%1 jetons par tour, %2 % des brouillons justes</translation>
    </message>
    <message>
        <source>drafts switched themselves off: %1 times the speed without (%2)</source>
        <translation>les brouillons se sont arrêtés d&apos;eux-mêmes : %1 fois la vitesse sans eux (%2)</translation>
    </message>
    <message>
        <source>drafts: %1 times the speed without (%2)</source>
        <translation>brouillons : %1 fois la vitesse sans eux (%2)</translation>
    </message>
</context>
<context>
    <name>ui::SamplesStrip</name>
    <message>
        <source>Ask: %1</source>
        <translation>Demander : %1</translation>
    </message>
    <message>
        <source>Ask this with its picture or sound</source>
        <translation>Poser la question avec son image ou son son</translation>
    </message>
    <message>
        <source>Try one of these</source>
        <translation>Essayez l&apos;une d&apos;elles</translation>
    </message>
</context>
<context>
    <name>ui::SamplingPanel</name>
    <message>
        <source>model&apos;s</source>
        <translation>du modèle</translation>
    </message>
    <message>
        <source>Save as preset</source>
        <translation>Enregistrer comme préréglage</translation>
    </message>
    <message>
        <source>Delete preset</source>
        <translation>Supprimer le préréglage</translation>
    </message>
    <message>
        <source>0 always takes the likeliest word</source>
        <translation>0 prend toujours le mot le plus probable</translation>
    </message>
    <message>
        <source>Keep the likeliest words that together reach this share</source>
        <translation>Garder les mots les plus probables qui atteignent ensemble cette part</translation>
    </message>
    <message>
        <source>Drop words below this share of the likeliest one</source>
        <translation>Écarter les mots sous cette part du plus probable</translation>
    </message>
    <message>
        <source>Above 1: words already said become less likely</source>
        <translation>Au-dessus de 1 : les mots déjà dits deviennent moins probables</translation>
    </message>
    <message>
        <source>Let the model think first</source>
        <translation>Laisser le modèle réfléchir d&apos;abord</translation>
    </message>
    <message>
        <source>Choose among this many words; 0 switches it off</source>
        <translation>Choisir parmi ce nombre de mots ; 0 le désactive</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>aucune limite</translation>
    </message>
    <message>
        <source>new each time</source>
        <translation>nouvelle à chaque fois</translation>
    </message>
    <message>
        <source>Name of a new preset</source>
        <translation>Nom d&apos;un nouveau préréglage</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Préréglage</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Température</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Min p</source>
        <translation>Min p</translation>
    </message>
    <message>
        <source>Repetition</source>
        <translation>Répétition</translation>
    </message>
    <message>
        <source>Longest reply</source>
        <translation>Réponse la plus longue</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Graine</translation>
    </message>
    <message>
        <source>Tokens per picture</source>
        <translation>Jetons par image</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personnalisé</translation>
    </message>
    <message>
        <source>%1 (model&apos;s)</source>
        <translation>%1 (modèle)</translation>
    </message>
    <message>
        <source>Guess ahead with the drafting assistant</source>
        <translation>Deviner à l&apos;avance avec l&apos;assistant de brouillons</translation>
    </message>
    <message>
        <source>The assistant guesses the next tokens and the model checks several at once. The text is the same; where it is slower, it leaves itself out.</source>
        <translation>L&apos;assistant devine les jetons suivants et le modèle en vérifie plusieurs à la fois. Le texte reste le même ; là où c&apos;est plus lent, il s&apos;abstient de lui-même.</translation>
    </message>
</context>
<context>
    <name>ui::ServerDialog</name>
    <message>
        <source>&amp;Allow it without encryption: everybody on the way can read along</source>
        <translation>&amp;Autoriser sans chiffrement : tous en chemin peuvent lire</translation>
    </message>
    <message>
        <source>&amp;Test the connection</source>
        <translation>&amp;Tester la connexion</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>&amp;Modèle</translation>
    </message>
    <message>
        <source>Connect to a server</source>
        <translation>Se connecter à un serveur</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s interface answers in place of this computer: vLLM, SGLang, llama-server, Belfry on another machine. What you write and attach is sent there.</source>
        <translation>Un serveur avec l&apos;interface d&apos;OpenAI répond à la place de cet ordinateur : vLLM, SGLang, llama-server, Belfry sur une autre machine. Ce que vous écrivez et joignez y est envoyé.</translation>
    </message>
    <message>
        <source>A&amp;ddress</source>
        <translation>A&amp;dresse</translation>
    </message>
    <message>
        <source>&amp;Key</source>
        <translation>C&amp;lé</translation>
    </message>
    <message>
        <source>&amp;Connect</source>
        <translation>Se &amp;connecter</translation>
    </message>
    <message>
        <source>Asking the server…</source>
        <translation>Question au serveur…</translation>
    </message>
    <message>
        <source>%1 (adapter of %2)</source>
        <translation>%1 (adaptateur de %2)</translation>
    </message>
    <message>
        <source>%1 (%2 tokens)</source>
        <translation>%1 (%2 tokens)</translation>
    </message>
    <message>
        <source>%1 answers, but lists no model.</source>
        <translation>%1 répond, mais ne cite aucun modèle.</translation>
    </message>
    <message>
        <source>%1 answers.</source>
        <translation>%1 répond.</translation>
    </message>
    <message>
        <source>%1 answers: %2.</source>
        <translation>%1 répond : %2.</translation>
    </message>
    <message>
        <source>Not encrypted: prompts, pictures and the key can be read on the way there. Use it in a network that you trust.</source>
        <translation>Non chiffré : textes, images et clé sont lisibles en chemin. À n&apos;utiliser que dans un réseau de confiance.</translation>
    </message>
    <message>
        <source>A&amp;uthority</source>
        <translation>A&amp;utorité</translation>
    </message>
    <message>
        <source>A PEM file; the system&apos;s authorities count as well</source>
        <translation>Fichier PEM ; celles du système valent aussi</translation>
    </message>
    <message>
        <source>The certificate of an authority of your own that vouches for this server. Ask whoever runs the server for it.</source>
        <translation>Le certificat d&apos;une autorité à vous, qui répond de ce serveur. Demandez-le à qui gère le serveur.</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Choisir…</translation>
    </message>
    <message>
        <source>Choose the certificate of an authority</source>
        <translation>Choisir le certificat d&apos;une autorité</translation>
    </message>
    <message>
        <source>Certificates (*.pem *.crt *.cer)</source>
        <translation>Certificats (*.pem *.crt *.cer)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Tous les fichiers (*)</translation>
    </message>
    <message>
        <source>&amp;Forget the key</source>
        <translation>&amp;Oublier la clé</translation>
    </message>
    <message>
        <source>The one that is kept</source>
        <translation>Celle qui est conservée</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Aucune</translation>
    </message>
    <message>
        <source>A key that you type is kept in the system&apos;s keyring.</source>
        <translation>Une clé que vous saisissez est conservée dans le trousseau du système.</translation>
    </message>
    <message>
        <source>A key that you type is kept in a file that only you can read: no keyring runs here.</source>
        <translation>Une clé que vous saisissez est conservée dans un fichier que vous seul pouvez lire : aucun trousseau n’est actif ici.</translation>
    </message>
</context>
<context>
    <name>ui::ServingDialog</name>
    <message>
        <source>Other programs</source>
        <translation>Autres programmes</translation>
    </message>
    <message>
        <source>Programs that speak to OpenAI&apos;s interface, such as Open WebUI, Continue or LibreChat, can use the model that is loaded here. It stays on this computer: only its own programs get in, and only with the token.</source>
        <translation>Les programmes qui parlent l&apos;interface d&apos;OpenAI, comme Open WebUI, Continue ou LibreChat, peuvent utiliser le modèle chargé ici. Il reste sur cet ordinateur : seuls ses propres programmes y ont accès, et seulement avec le jeton.</translation>
    </message>
    <message>
        <source>Let other programs use this model</source>
        <translation>Laisser d&apos;autres programmes utiliser ce modèle</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Model name</source>
        <translation>Nom du modèle</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Jeton</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Copy: %1</source>
        <translation>Copier : %1</translation>
    </message>
    <message>
        <source>Off: no other program gets an answer.</source>
        <translation>Désactivé : aucun autre programme ne reçoit de réponse.</translation>
    </message>
    <message>
        <source>On, but no model is loaded: programs are asked to wait.</source>
        <translation>Activé, mais aucun modèle n&apos;est chargé : les programmes sont priés d&apos;attendre.</translation>
    </message>
    <message>
        <source>Ready.</source>
        <translation>Prêt.</translation>
    </message>
    <message>
        <source>Answering. Waiting: %1.</source>
        <translation>Réponse en cours. En attente : %1.</translation>
    </message>
    <message>
        <source>Answering.</source>
        <translation>Réponse en cours.</translation>
    </message>
    <message>
        <source>Requests answered: %1.</source>
        <translation>Requêtes traitées : %1.</translation>
    </message>
</context>
<context>
    <name>ui::Session</name>
    <message>
        <source>%1, shape only</source>
        <translation>%1, forme seule</translation>
    </message>
    <message>
        <source>Demo model</source>
        <translation>Modèle de démo</translation>
    </message>
    <message>
        <source>The adapter cannot be used with this model</source>
        <translation>L&apos;adaptateur ne va pas avec ce modèle</translation>
    </message>
    <message>
        <source>The model was not loaded</source>
        <translation>Le modèle n&apos;a pas été chargé</translation>
    </message>
    <message>
        <source>Nothing was moved; everything is where it was</source>
        <translation>Rien n&apos;a été déplacé ; tout est à sa place</translation>
    </message>
    <message>
        <source>The layout could not be applied</source>
        <translation>Le placement n&apos;a pas pu être appliqué</translation>
    </message>
    <message>
        <source>The adapters were not changed</source>
        <translation>Les adaptateurs n&apos;ont pas été changés</translation>
    </message>
    <message>
        <source>The adapter was not added</source>
        <translation>L’adaptateur n’a pas été ajouté</translation>
    </message>
    <message>
        <source>%1 is loaded and %2 is chosen. Load it, or go back to %1: an adapter goes to the model that is both.</source>
        <translation>%1 est chargé et %2 est choisi. Chargez-le, ou revenez à %1 : un adaptateur va au modèle qui est les deux.</translation>
    </message>
</context>
<context>
    <name>ui::SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Réglages</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>Apparence</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Comme le système</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Clair</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Sombre</translation>
    </message>
    <message>
        <source>&amp;Colours</source>
        <translation>&amp;Couleurs</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Couleurs</translation>
    </message>
    <message>
        <source> %</source>
        <translation> %</translation>
    </message>
    <message>
        <source>&amp;Text size</source>
        <translation>&amp;Taille du texte</translation>
    </message>
    <message>
        <source>Text size in percent</source>
        <translation>Taille du texte en pour cent</translation>
    </message>
    <message>
        <source>Used from the next start on</source>
        <translation>Utilisé à partir du prochain lancement</translation>
    </message>
    <message>
        <source>&amp;Language (next start)</source>
        <translation>&amp;Langue (au prochain lancement)</translation>
    </message>
    <message>
        <source>Language, used from the next start</source>
        <translation>Langue, utilisée au prochain lancement</translation>
    </message>
    <message>
        <source>&amp;Placement to start with</source>
        <translation>&amp;Placement de départ</translation>
    </message>
    <message>
        <source>Placement to start with</source>
        <translation>Placement de départ</translation>
    </message>
    <message>
        <source>&amp;Weights to start with</source>
        <translation>Po&amp;ids de départ</translation>
    </message>
    <message>
        <source>Weights to start with</source>
        <translation>Poids de départ</translation>
    </message>
    <message>
        <source>all</source>
        <translation>tous</translation>
    </message>
    <message>
        <source>P&amp;rocessor threads</source>
        <translation>Fils du p&amp;rocesseur</translation>
    </message>
    <message>
        <source>Processor threads</source>
        <translation>Fils du processeur</translation>
    </message>
    <message>
        <source>Chats and files</source>
        <translation>Discussions et fichiers</translation>
    </message>
    <message>
        <source>&amp;Open the last chat at start</source>
        <translation>&amp;Ouvrir la dernière discussion au lancement</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>Discussions</translation>
    </message>
    <message>
        <source>Cache, can be deleted</source>
        <translation>Cache, peut être supprimé</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modèles</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts…</source>
        <translation>Raccourcis &amp;clavier…</translation>
    </message>
    <message>
        <source>See and change the keys of every action</source>
        <translation>Voir et changer les touches de chaque action</translation>
    </message>
    <message>
        <source>Keep &amp;quantized copies for faster loading</source>
        <translation>Garder des copies &amp;quantifiées pour charger plus vite</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Réseau</translation>
    </message>
    <message>
        <source>Belfry opens a network connection only when you search for a model, get one or choose one on a server. Chats, pictures and sounds stay on this computer; what you write to a server goes there.</source>
        <translation>Belfry n’ouvre une connexion réseau que lorsque vous cherchez un modèle, en obtenez un ou en choisissez un sur un serveur. Chats, images et sons restent sur cet ordinateur ; ce que vous écrivez à un serveur y va.</translation>
    </message>
    <message>
        <source>&amp;Never use the network</source>
        <translation>Ne &amp;jamais utiliser le réseau</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE in the environment forbids it</source>
        <translation>HF_HUB_OFFLINE dans l’environnement l’interdit</translation>
    </message>
    <message>
        <source>For the window and for belfry-cli. A server on this computer may answer all the same.</source>
        <translation>Pour la fenêtre et pour belfry-cli. Un serveur sur cet ordinateur peut répondre quand même.</translation>
    </message>
    <message>
        <source>Where models come from: a mirror with Hugging Face&apos;s interface, as HF_ENDPOINT</source>
        <translation>D’où viennent les modèles : un miroir à l’interface de Hugging Face, comme HF_ENDPOINT</translation>
    </message>
    <message>
        <source>&amp;Mirror</source>
        <translation>M&amp;iroir</translation>
    </message>
    <message>
        <source>Mirror</source>
        <translation>Miroir</translation>
    </message>
    <message>
        <source>as the system says</source>
        <translation>selon le système</translation>
    </message>
    <message>
        <source>http://host:port or socks5://host:port</source>
        <translation>http://hôte:port ou socks5://hôte:port</translation>
    </message>
    <message>
        <source>Prox&amp;y</source>
        <translation>Prox&amp;y</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>Re&amp;duce motion</source>
        <translation>Réduire les &amp;animations</translation>
    </message>
    <message>
        <source>Blocks, lanes and bars jump to their place instead of moving there</source>
        <translation>Blocs, colonnes et barres sautent à leur place au lieu de s’y déplacer</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutEditor</name>
    <message>
        <source>&amp;Assign</source>
        <translation>&amp;Attribuer</translation>
    </message>
    <message>
        <source>&amp;No keys</source>
        <translation>Aucu&amp;ne touche</translation>
    </message>
    <message>
        <source>&amp;Usual keys</source>
        <translation>To&amp;uches habituelles</translation>
    </message>
    <message>
        <source>&amp;Reset all keys</source>
        <translation>&amp;Rétablir toutes les touches</translation>
    </message>
    <message>
        <source>Change keyboard shortcuts</source>
        <translation>Changer les raccourcis clavier</translation>
    </message>
    <message>
        <source>Actions and their keys</source>
        <translation>Actions et leurs touches</translation>
    </message>
    <message>
        <source>New keys</source>
        <translation>Nouvelles touches</translation>
    </message>
    <message>
        <source>Press the new keys</source>
        <translation>Appuyez sur les nouvelles touches</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Choose an action, then press the new keys in the field.</source>
        <translation>Choisissez une action, puis appuyez sur les nouvelles touches dans le champ.</translation>
    </message>
    <message>
        <source>These are its keys already.</source>
        <translation>Elle a déjà ces touches.</translation>
    </message>
    <message>
        <source>%1 is used by: %2. Assigning takes it from there.</source>
        <translation>%1 sert à : %2. L’attribuer l’en retire.</translation>
    </message>
    <message>
        <source>T&amp;ake over</source>
        <translation>&amp;Prendre</translation>
    </message>
    <message>
        <source>%1 is free.</source>
        <translation>%1 est libre.</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutModel</name>
    <message>
        <source>none</source>
        <translation>aucune</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>Action</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Touches</translation>
    </message>
</context>
<context>
    <name>ui::ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Raccourcis clavier</translation>
    </message>
    <message>
        <source>Keys for %1</source>
        <translation>Touches pour %1</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>none</source>
        <translation>aucune</translation>
    </message>
    <message>
        <source>C&amp;hange…</source>
        <translation>C&amp;hanger…</translation>
    </message>
    <message>
        <source>Give actions other keys</source>
        <translation>Donner d’autres touches aux actions</translation>
    </message>
</context>
<context>
    <name>ui::SoundCard</name>
    <message>
        <source>Space plays and pauses, the arrow keys move by a second, Page Up and Page Down by five</source>
        <translation>Espace lit et suspend, les flèches avancent d’une seconde, Page précédente et Page suivante de cinq</translation>
    </message>
    <message>
        <source>Sound %1</source>
        <translation>Son %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>%1, playing</source>
        <translation>%1, en lecture</translation>
    </message>
    <message>
        <source>%1: %2 to %3 of %4</source>
        <translation>%1 : de %2 à %3 sur %4</translation>
    </message>
    <message>
        <source>The file is no longer there.</source>
        <translation>Le fichier n’est plus là.</translation>
    </message>
    <message>
        <source>%1: file not found</source>
        <translation>%1 : fichier introuvable</translation>
    </message>
    <message>
        <source>%1: cannot be read</source>
        <translation>%1 : illisible</translation>
    </message>
</context>
<context>
    <name>ui::SoundPlayer</name>
    <message>
        <source>This build of Belfry was made without Qt Multimedia and plays no sound. Open the file in another program.</source>
        <translation>Cette version de Belfry a été compilée sans Qt Multimedia et ne lit pas les sons. Ouvrez le fichier dans un autre programme.</translation>
    </message>
    <message>
        <source>No sound device was found. Connect or switch on a loudspeaker, then press play again.</source>
        <translation>Aucun périphérique audio trouvé. Branchez ou allumez un haut-parleur, puis relancez la lecture.</translation>
    </message>
    <message>
        <source>The sound device cannot be opened (%1). Choose another one in the system&apos;s settings, then press play again.</source>
        <translation>Le périphérique audio ne peut pas être ouvert (%1). Choisissez-en un autre dans les réglages du système, puis relancez la lecture.</translation>
    </message>
    <message>
        <source>The sound device is gone. Connect it again or choose another one in the system&apos;s settings, then press play.</source>
        <translation>Le périphérique audio a disparu. Rebranchez-le ou choisissez-en un autre dans les réglages du système, puis relancez la lecture.</translation>
    </message>
    <message>
        <source>The sound system does not answer. Check that it runs, then press play again.</source>
        <translation>Le système audio ne répond pas. Vérifiez qu’il fonctionne, puis relancez la lecture.</translation>
    </message>
</context>
<context>
    <name>ui::SoundRange</name>
    <message>
        <source>Start of the part that is used</source>
        <translation>Début de la partie utilisée</translation>
    </message>
    <message>
        <source>The arrow keys move the part by a second, Page Up and Page Down by ten</source>
        <translation>Les flèches déplacent la partie d’une seconde, Page précédente et Page suivante de dix</translation>
    </message>
    <message>
        <source>Drag to choose the part that the model hears</source>
        <translation>Faites glisser pour choisir la partie que le modèle entend</translation>
    </message>
    <message>
        <source>%1 to %2 of %3</source>
        <translation>de %1 à %2 sur %3</translation>
    </message>
</context>
<context>
    <name>ui::SoundRecorder</name>
    <message>
        <source>This build of Belfry was made without Qt Multimedia and cannot record. Record in another program and attach the file.</source>
        <translation>Cette version de Belfry a été compilée sans Qt Multimedia et ne peut pas enregistrer. Enregistrez dans un autre programme et joignez le fichier.</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, or allow it in the system&apos;s privacy settings, then try again.</source>
        <translation>Aucun micro trouvé. Branchez-en un ou autorisez-le dans les réglages de confidentialité du système, puis réessayez.</translation>
    </message>
    <message>
        <source>The microphone cannot be opened (%1). Allow it in the system&apos;s privacy settings or close the program that uses it, then try again.</source>
        <translation>Le micro ne peut pas être ouvert (%1). Autorisez-le dans les réglages de confidentialité du système ou fermez le programme qui l’utilise, puis réessayez.</translation>
    </message>
    <message>
        <source>The microphone is gone: what was recorded until then is kept.</source>
        <translation>Le micro a disparu : ce qui a été enregistré jusque-là est conservé.</translation>
    </message>
    <message>
        <source>The microphone delivers nothing. Check that it is on and allowed in the system&apos;s privacy settings, then try again.</source>
        <translation>Le micro ne transmet rien. Vérifiez qu’il est allumé et autorisé dans les réglages de confidentialité du système, puis réessayez.</translation>
    </message>
    <message>
        <source>Nothing was recorded. Keep recording while you speak, then choose Use.</source>
        <translation>Rien n’a été enregistré. Laissez l’enregistrement tourner pendant que vous parlez, puis choisissez Utiliser.</translation>
    </message>
    <message>
        <source>The recording could not be written to %1; check that there is room and the folder can be written.</source>
        <translation>L’enregistrement n’a pas pu être écrit dans %1 ; vérifiez qu’il y a de la place et que le dossier est accessible en écriture.</translation>
    </message>
</context>
<context>
    <name>ui::StatusStrip</name>
    <message>
        <source>Checking</source>
        <translation>Vérification</translation>
    </message>
    <message>
        <source>Reserving memory</source>
        <translation>Réservation de mémoire</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Lecture</translation>
    </message>
    <message>
        <source>Moving</source>
        <translation>Déplacement</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>Chargement</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Progression</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Stop loading or moving; what was there before stays</source>
        <translation>Arrêter le chargement ou le déplacement ; ce qui était là reste</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Charger</translation>
    </message>
    <message>
        <source>Load the chosen model</source>
        <translation>Charger le modèle choisi</translation>
    </message>
    <message>
        <source>Eject</source>
        <translation>Éjecter</translation>
    </message>
    <message>
        <source>Remove the model from memory</source>
        <translation>Retirer le modèle de la mémoire</translation>
    </message>
    <message>
        <source>Cannot be used</source>
        <translation>Inutilisable</translation>
    </message>
    <message>
        <source>Reading …</source>
        <translation>Lecture …</translation>
    </message>
    <message>
        <source>Not loaded</source>
        <translation>Non chargé</translation>
    </message>
    <message>
        <source>Loaded</source>
        <translation>Chargé</translation>
    </message>
    <message>
        <source>Say why</source>
        <translation>Dire pourquoi</translation>
    </message>
    <message>
        <source>A reply is being written: stop it first (Esc)</source>
        <translation>Une réponse est en train de s’écrire : arrêtez-la d’abord (Échap)</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>nearly done</source>
        <translation>presque fini</translation>
    </message>
    <message>
        <source>%1 s left</source>
        <translation>encore %1 s</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>encore %1</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>Loads its model</source>
        <translation>Charge son modèle</translation>
    </message>
    <message>
        <source>Refuses</source>
        <translation>Refuse</translation>
    </message>
    <message>
        <source>Does not answer</source>
        <translation>Ne répond pas</translation>
    </message>
    <message>
        <source>Network forbidden</source>
        <translation>Réseau interdit</translation>
    </message>
    <message>
        <source>Connected</source>
        <translation>Connecté</translation>
    </message>
    <message>
        <source>Disconnect</source>
        <translation>Se déconnecter</translation>
    </message>
    <message>
        <source>Ask this server nothing more</source>
        <translation>Ne plus rien demander à ce serveur</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>Se connecter</translation>
    </message>
    <message>
        <source>Let this server answer</source>
        <translation>Laisser ce serveur répondre</translation>
    </message>
    <message>
        <source>Asking …</source>
        <translation>Demande …</translation>
    </message>
    <message>
        <source>Not connected</source>
        <translation>Non connecté</translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation>Connexion</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 tokens</translation>
    </message>
    <message>
        <source>Loading again</source>
        <translation>Rechargement</translation>
    </message>
    <message>
        <source>Load here</source>
        <translation>Charger ici</translation>
    </message>
    <message>
        <source>Loads the chosen model on this computer, not on the one that the layout looks at</source>
        <translation>Charge le modèle choisi sur cet ordinateur, pas sur celui que la disposition examine</translation>
    </message>
    <message>
        <source>In use</source>
        <translation>Utilisé</translation>
    </message>
    <message>
        <source>Shared</source>
        <translation>Partagé</translation>
    </message>
    <message>
        <source>Another program is using the model</source>
        <translation>Un autre programme utilise le modèle</translation>
    </message>
    <message>
        <source>Other programs may use the model</source>
        <translation>D’autres programmes peuvent utiliser le modèle</translation>
    </message>
</context>
<context>
    <name>ui::SystemPromptPanel</name>
    <message>
        <source>System prompt: what the model is told before the first message of this chat</source>
        <translation>Consigne système : ce que le modèle apprend avant le premier message de cette discussion</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Consigne système</translation>
    </message>
    <message>
        <source>For example: You answer in short, plain sentences.</source>
        <translation>Par exemple : Tu réponds en phrases courtes et simples.</translation>
    </message>
</context>
<context>
    <name>ui::TokenDialog</name>
    <message>
        <source>Sign in with a token</source>
        <translation>Se connecter avec un jeton</translation>
    </message>
    <message>
        <source>%1. Accept the licence of %2 on its page, signed in there.</source>
        <translation>%1. Acceptez la licence de %2 sur sa page, en y étant connecté.</translation>
    </message>
    <message>
        <source>Open the model&apos;s &amp;page in the browser</source>
        <translation>Ouvrir la &amp;page du modèle dans le navigateur</translation>
    </message>
    <message>
        <source>%1 is to be had only by who may read it: check the name, or sign in.</source>
        <translation>%1 n’est accessible qu’à qui peut le lire : vérifiez le nom, ou connectez-vous.</translation>
    </message>
    <message>
        <source>%1. Make a token that may read, on your settings page.</source>
        <translation>%1. Créez un jeton qui peut lire, sur votre page de réglages.</translation>
    </message>
    <message>
        <source>Open the page for &amp;tokens in the browser</source>
        <translation>Ouvrir la page des &amp;jetons dans le navigateur</translation>
    </message>
    <message>
        <source>%1. Put it in here:</source>
        <translation>%1. Saisissez-le ici :</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Jeton</translation>
    </message>
    <message>
        <source>in place of %1</source>
        <translation>à la place de %1</translation>
    </message>
    <message>
        <source>It is kept in %1, sent to %2 and to nobody else.</source>
        <translation>Il est gardé dans %1, envoyé à %2 et à personne d’autre.</translation>
    </message>
    <message>
        <source>&amp;Use it</source>
        <translation>&amp;Utiliser</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Annuler</translation>
    </message>
    <message>
        <source>&amp;Forget it</source>
        <translation>&amp;Oublier</translation>
    </message>
</context>
<context>
    <name>ui::UnusablePage</name>
    <message>
        <source>Choose another &amp;folder…</source>
        <translation>Choisir un autre &amp;dossier …</translation>
    </message>
    <message>
        <source>This folder cannot be used</source>
        <translation>Ce dossier est inutilisable</translation>
    </message>
    <message>
        <source>Try the &amp;demo model</source>
        <translation>Essayer le modèle de d&amp;émo</translation>
    </message>
    <message>
        <source>&amp;Server…</source>
        <translation>&amp;Serveur…</translation>
    </message>
    <message>
        <source>Another address, another key, another model</source>
        <translation>Une autre adresse, une autre clé, un autre modèle</translation>
    </message>
    <message>
        <source>This server does not answer for the model</source>
        <translation>Ce serveur ne répond pas pour le modèle</translation>
    </message>
    <message>
        <source>&amp;Get a model…</source>
        <translation>&amp;Obtenir un modèle…</translation>
    </message>
</context>
<context>
    <name>ui::WelcomePage</name>
    <message>
        <source>Chat with a model on your own hardware</source>
        <translation>Discutez avec un modèle sur votre propre matériel</translation>
    </message>
    <message>
        <source>Drop a Gemma 4 folder here, or choose one. You see every part of it, and drag each to the graphics card, the processor or the disk.</source>
        <translation>Déposez un dossier Gemma 4 ici, ou choisissez-en un. Vous voyez chaque partie et la déplacez vers la carte graphique, le processeur ou le disque.</translation>
    </message>
    <message>
        <source>Choose a &amp;folder…</source>
        <translation>Choisir un &amp;dossier …</translation>
    </message>
    <message>
        <source>Try the &amp;demo model</source>
        <translation>Essayer le modèle de &amp;démo</translation>
    </message>
    <message>
        <source>Loads the small model that comes with Belfry; it understands pictures and sounds</source>
        <translation>Charge le petit modèle fourni avec Belfry ; il comprend images et sons</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Récents</translation>
    </message>
    <message>
        <source>Recent models</source>
        <translation>Modèles récents</translation>
    </message>
    <message>
        <source>%1 of %2 main memory free</source>
        <translation>%1 de mémoire vive libres sur %2</translation>
    </message>
    <message>
        <source>%1: %2 of %3 free</source>
        <translation>%1 : %2 libres sur %3</translation>
    </message>
    <message>
        <source>&amp;Get a model…</source>
        <translation>&amp;Obtenir un modèle…</translation>
    </message>
    <message>
        <source>&amp;Models on this computer</source>
        <translation>&amp;Modèles sur cet ordinateur</translation>
    </message>
    <message>
        <source>Everything stays on this computer: no account, and no network before you ask for a model.</source>
        <translation>Tout reste sur cet ordinateur : pas de compte, et pas de réseau avant que vous demandiez un modèle.</translation>
    </message>
    <message>
        <source>&amp;Server…</source>
        <translation>&amp;Serveur…</translation>
    </message>
    <message>
        <source>Let a model on another computer answer</source>
        <translation>Laisser répondre un modèle sur un autre ordinateur</translation>
    </message>
</context>
<context>
    <name>ui::WhatIfDialog</name>
    <message>
        <source>A computer of your own</source>
        <translation>Un ordinateur à vous</translation>
    </message>
    <message>
        <source> GiB</source>
        <translation> Gio</translation>
    </message>
    <message>
        <source> GB/s</source>
        <translation> Go/s</translation>
    </message>
    <message>
        <source> TFLOPS</source>
        <translation> TFLOPS</translation>
    </message>
    <message>
        <source>Another card</source>
        <translation>Autre carte</translation>
    </message>
    <message>
        <source>My computer</source>
        <translation>Mon ordinateur</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Carte graphique</translation>
    </message>
    <message>
        <source>How many</source>
        <translation>Combien</translation>
    </message>
    <message>
        <source>Memory of each</source>
        <translation>Mémoire de chacun</translation>
    </message>
    <message>
        <source>Memory bandwidth</source>
        <translation>Débit de la mémoire</translation>
    </message>
    <message>
        <source>16-bit arithmetic</source>
        <translation>calcul en 16 bits</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Mémoire principale</translation>
    </message>
    <message>
        <source>Of each card 0.6 GiB are taken as used by the desktop and the driver. Speeds are estimates.</source>
        <translation>Sur chaque carte, 0,6 Gio comptent pour le bureau et le pilote. Les vitesses sont des estimations.</translation>
    </message>
    <message>
        <source>Plan for it</source>
        <translation>Planifier pour lui</translation>
    </message>
    <message>
        <source>%1 GiB card</source>
        <translation>carte de %1 Gio</translation>
    </message>
    <message>
        <source>not told: what fits only</source>
        <translation>non donnée : ce qui tient</translation>
    </message>
</context>
<context>
    <name>ui::WindowSentence</name>
    <message>
        <source>%1: its licence has to be accepted before it can be fetched: open %2 in a browser, accept it there, then use “Sign in…” here</source>
        <translation>%1 : sa licence doit être acceptée avant de pouvoir le télécharger : ouvrez %2 dans un navigateur, acceptez-la, puis utilisez ici « Se connecter… »</translation>
    </message>
    <message>
        <source>%1: %2 does not take the token: it is wrong or has expired; make a new one on your settings page there, then use “Sign in…”</source>
        <translation>%1 : %2 n’accepte pas le jeton : il est faux ou a expiré ; créez-en un nouveau sur votre page de réglages, puis utilisez « Se connecter… »</translation>
    </message>
    <message>
        <source>%1: %2 refuses access to this token: it lacks the permission (a fine-grained token names what it may read); use “Sign in…” with one that has it</source>
        <translation>%1 : %2 refuse l’accès à ce jeton : il lui manque l’autorisation (un jeton à droits fins nomme ce qu’il peut lire) ; utilisez « Se connecter… » avec un jeton qui l’a</translation>
    </message>
    <message>
        <source>%1: %2 refuses access; use “Sign in…” if the model is yours</source>
        <translation>%1 : %2 refuse l’accès ; utilisez « Se connecter… » si le modèle est le vôtre</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name and whose token is used</source>
        <translation>%1 : ce modèle n’existe pas sur %2, ou il est privé : vérifiez le nom et à qui appartient le jeton utilisé</translation>
    </message>
    <message>
        <source>%1: there is no such model at %2, or it is private: check the name, or use “Sign in…” with a token that may read it</source>
        <translation>%1 : ce modèle n’existe pas sur %2, ou il est privé : vérifiez le nom, ou utilisez « Se connecter… » avec un jeton qui peut le lire</translation>
    </message>
    <message>
        <source>%1 has had too many requests from this address; try again in five minutes, or sign in there with a token</source>
        <translation>%1 a reçu trop de requêtes de cette adresse ; réessayez dans cinq minutes, ou connectez-vous avec un jeton</translation>
    </message>
    <message>
        <source>the address %1 is not encrypted, and a token would be read on the way: use https, or remove the token in the settings</source>
        <translation>l’adresse %1 n’est pas chiffrée, et un jeton serait lu en chemin : utilisez https, ou retirez le jeton dans les réglages</translation>
    </message>
    <message>
        <source>the system&apos;s keyring does not answer (%1): unlock it and try again</source>
        <translation>le trousseau du système ne répond pas (%1) : déverrouillez-le et réessayez</translation>
    </message>
    <message>
        <source>there is no place to keep a token in</source>
        <translation>il n’y a aucun endroit où conserver un jeton</translation>
    </message>
    <message>
        <source>get %1 again: what is there is kept, only the rest is fetched</source>
        <translation>obtenez %1 de nouveau : ce qui est là reste, seul le reste est téléchargé</translation>
    </message>
    <message>
        <source>get a Gemma 4 model with safetensors: see “Get a model”</source>
        <translation>obtenez un modèle Gemma 4 en safetensors : voir « Obtenir un modèle »</translation>
    </message>
    <message>
        <source>take a LoRA adapter that PEFT has saved</source>
        <translation>prenez un adaptateur LoRA enregistré par PEFT</translation>
    </message>
    <message>
        <source>this model has no tokenizer, so it cannot read text: put its tokenizer.json into the folder and load it again</source>
        <translation>ce modèle n’a pas de tokenizer et ne peut donc pas lire de texte : placez son tokenizer.json dans le dossier et rechargez-le</translation>
    </message>
    <message>
        <source>%1: %2: %3; the folder of models has to be one that you may write to</source>
        <translation>%1 : %2 : %3 ; le dossier des modèles doit être un dossier où vous pouvez écrire</translation>
    </message>
    <message>
        <source>%1: the disk takes no file of this size (FAT: 4 GiB); the folder of models has to be on another disk</source>
        <translation>%1 : le disque n’accepte pas de fichier de cette taille (FAT : 4 Gio) ; le dossier des modèles doit être sur un autre disque</translation>
    </message>
    <message>
        <source>not enough room: %1 bytes are missing and %2 shall stay free, the disk has %3 free; make room on it</source>
        <translation>pas assez de place : il manque %1 octets et %2 doivent rester libres, le disque en a %3 de libres ; faites-y de la place</translation>
    </message>
    <message>
        <source>the context is full: %1 tokens are held, %2 more do not fit into %3; start a new chat, or load with a larger “Context”</source>
        <translation>le contexte est plein : il contient %1 tokens, %2 de plus ne tiennent pas dans %3 ; commencez une nouvelle conversation, ou chargez avec un plus grand « Contexte »</translation>
    </message>
    <message>
        <source>%1 tokens per picture were asked for; the model was loaded for at most %2: load it again for %3</source>
        <translation>%1 tokens par image ont été demandés ; le modèle est chargé pour %2 au plus : rechargez-le pour %3</translation>
    </message>
    <message>
        <source>the picture has %1 × %2 patches, more than the model was loaded for; load it with more tokens per picture</source>
        <translation>l’image a %1 × %2 carreaux, plus que ce pour quoi le modèle est chargé ; chargez-le avec plus de tokens par image</translation>
    </message>
    <message>
        <source>a picture has more tokens than are read at once (%1); load the model with more tokens per picture</source>
        <translation>une image a plus de tokens que ce qui est lu d’un coup (%1) ; chargez le modèle avec plus de tokens par image</translation>
    </message>
    <message>
        <source>“Weights”</source>
        <translation>« Poids »</translation>
    </message>
    <message>
        <source>the format of the head</source>
        <translation>le format de la tête</translation>
    </message>
    <message>
        <source>%1 cannot be %2: possible are %3</source>
        <translation>%1 ne peut pas être %2 : sont possibles %3</translation>
    </message>
    <message>
        <source>the size of blocks cannot be %1: a power of two from 32 to 4096 is possible</source>
        <translation>la taille des blocs ne peut pas être %1 : une puissance de deux de 32 à 4096 est possible</translation>
    </message>
    <message>
        <source>%1; computed once more, every layer gave finite values: a device or its memory may be failing. Try again, or with everything on the CPU</source>
        <translation>%1 ; recalculée, chaque couche a donné des valeurs finies : un appareil ou sa mémoire est peut-être défaillant. Réessayez, ou avec tout sur le CPU</translation>
    </message>
    <message>
        <source>%1, but the model was loaded for text only, without its audio tower: it cannot hear recordings. Turn off “Text only” and load it again</source>
        <translation>%1, mais le modèle est chargé pour le texte seul, sans sa tour audio : il ne peut pas entendre d’enregistrements. Désactivez « Texte seul » et rechargez-le</translation>
    </message>
    <message>
        <source>%1, but the model was loaded for text only, without its vision tower: it cannot see pictures. Turn off “Text only” and load it again</source>
        <translation>%1, mais le modèle est chargé pour le texte seul, sans sa tour de vision : il ne peut pas voir d’images. Désactivez « Texte seul » et rechargez-le</translation>
    </message>
    <message>
        <source>head in 8 bits</source>
        <translation>tête en 8 bits</translation>
    </message>
    <message>
        <source>some accuracy for speed, before what every token reads leaves</source>
        <translation>un peu de précision contre de la vitesse, avant que parte ce que chaque jeton lit</translation>
    </message>
    <message>
        <source>%1 quantized weights on disk are made anew at every use. “Keep quantized copies” in the settings avoids that.</source>
        <translation>%1 poids quantifiés sur le disque sont refaits à chaque usage. « Garder des copies quantifiées » dans les réglages l’évite.</translation>
    </message>
    <message>
        <source>The format of the head has no effect: the checkpoint holds the head packed as %1, and it stays so</source>
        <translation>Le format de la tête est sans effet : le checkpoint contient la tête compactée en %1, et elle le reste</translation>
    </message>
    <message>
        <source>The format of the head has no effect: the map gives embed_tokens a format, and the head is the same table</source>
        <translation>Le format de la tête est sans effet : le plan donne un format à embed_tokens, et la tête est la même table</translation>
    </message>
    <message>
        <source>1 weight of the checkpoint is packed already and stays as stored; “Weights” applies to the others</source>
        <translation>1 poids du checkpoint est déjà compacté et reste tel quel ; « Poids » s’applique aux autres</translation>
    </message>
    <message>
        <source>%1 weights of the checkpoint are packed already and stay as stored; “Weights” applies to the others</source>
        <translation>%1 poids du checkpoint sont déjà compactés et restent tels quels ; « Poids » s’applique aux autres</translation>
    </message>
    <message>
        <source>%1 needs %2 but may use %4, %6 too much (%7). The largest parts: %8</source>
        <translation>%1 a besoin de %2 mais peut utiliser %4, %6 de trop (%7). Les plus grandes parties : %8</translation>
    </message>
    <message>
        <source>the memory of a simulated GPU is this computer&apos;s main memory: %1 need %2 of it together but may use %4, %6 too much (%7). The largest parts: %8</source>
        <translation>la mémoire d’un GPU simulé est la mémoire principale de cet ordinateur : %1 en demandent %2 ensemble mais peuvent utiliser %4, soit %6 de trop (%7). Les plus grandes parties : %8</translation>
    </message>
    <message>
        <source>%1 by the limit that is set</source>
        <translation>%1 par la limite fixée</translation>
    </message>
    <message>
        <source>there is a limit for %1, which this computer does not have</source>
        <translation>il y a une limite pour %1, que cet ordinateur n’a pas</translation>
    </message>
    <message>
        <source>the placement %1 needs a GPU, and this computer shows none: use “Everything on the CPU”, or try “Graphics card: Simulated”</source>
        <translation>le placement %1 a besoin d’un GPU, et cet ordinateur n’en montre pas : prenez « Tout sur le CPU », ou essayez « Carte graphique : Simulée »</translation>
    </message>
    <message>
        <source>%1 is a device that Belfry does not have</source>
        <translation>%1 est un appareil que Belfry n’a pas</translation>
    </message>
    <message>
        <source>this version keeps keys and values in bf16 or q8 and has no other format for them; change kv.format</source>
        <translation>cette version garde clés et valeurs en bf16 ou q8 et n’a pas d’autre format pour elles ; modifiez kv.format</translation>
    </message>
    <message>
        <source>head in 8 bits and %1</source>
        <translation>tête en 8 bits et %1</translation>
    </message>
    <message>
        <source>%1 (the head keeps its own copy)</source>
        <translation>%1 (la tête garde sa propre copie)</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 vers %2</translation>
    </message>
    <message>
        <source>%1 to %3</source>
        <translation>%1 vers %3</translation>
    </message>
    <message>
        <source>weights in %1</source>
        <translation>poids : %1</translation>
    </message>
    <message>
        <source>a context of %1 tokens</source>
        <translation>un contexte de %1 jetons</translation>
    </message>
    <message>
        <source>read prompts in pieces of %1 tokens</source>
        <translation>lire les questions par morceaux de %1 jetons</translation>
    </message>
    <message>
        <source>at most %1 tokens per picture</source>
        <translation>au plus %1 jetons par image</translation>
    </message>
    <message>
        <source>the folder is not there any more: moved, renamed or deleted</source>
        <translation>le dossier n’est plus là : déplacé, renommé ou supprimé</translation>
    </message>
    <message>
        <source>see “Get a model”</source>
        <translation>voir « Obtenir un modèle »</translation>
    </message>
    <message>
        <source>it holds an adapter, no model. Choose the model first, then add this folder with “Adapter”</source>
        <translation>il contient un adaptateur, pas un modèle. Choisissez d’abord le modèle, puis ajoutez ce dossier avec « Adaptateur »</translation>
    </message>
    <message>
        <source>what is wanted is in a folder inside it: %2. Choose that one</source>
        <translation>ce qui est cherché est dans un dossier à l’intérieur : %2. Choisissez celui-là</translation>
    </message>
    <message>
        <source>get it again: what is there is kept, only the rest is fetched</source>
        <translation>obtenez-le de nouveau : ce qui est là reste, seul le reste est téléchargé</translation>
    </message>
    <message>
        <source>it holds a helper for faster decoding, not a model to chat with. Choose the folder of the model that it belongs to.</source>
        <translation>il contient un assistant de décodage, pas un modèle avec lequel discuter. Choisissez le dossier du modèle auquel il appartient.</translation>
    </message>
    <message>
        <source>it holds a model of another kind (%2). Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) and models of Llama&apos;s form (llama, mistral).</source>
        <translation>il contient un modèle d’un autre type (%2). Belfry exécute Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) et des modèles de la forme de Llama (llama, mistral).</translation>
    </message>
    <message>
        <source>The weights stay as they are stored. In 4 bits it would be about %2 tokens/s.</source>
        <translation>Les poids restent tels quels. En 4 bits, ce serait environ %2 tokens/s.</translation>
    </message>
</context>
<context>
    <name>ui::CardBox</name>
    <message>
        <source>Type a part of a name to search</source>
        <translation>Saisir une partie du nom pour chercher</translation>
    </message>
    <message>
        <source>Of your own</source>
        <translation>Les vôtres</translation>
    </message>
</context>
<context>
    <name>ui::CardGroups</name>
    <message>
        <source>GeForce RTX in laptops</source>
        <translation>GeForce RTX de portables</translation>
    </message>
    <message>
        <source>Two cards</source>
        <translation>Deux cartes</translation>
    </message>
    <message>
        <source>Workstations</source>
        <translation>Stations de travail</translation>
    </message>
    <message>
        <source>Data centres</source>
        <translation>Centres de données</translation>
    </message>
    <message>
        <source>AMD (what fits only)</source>
        <translation>AMD (seulement ce qui tient)</translation>
    </message>
    <message>
        <source>Intel (what fits only)</source>
        <translation>Intel (seulement ce qui tient)</translation>
    </message>
    <message>
        <source>Apple, unified memory (what fits only)</source>
        <translation>Apple, mémoire unifiée (seulement ce qui tient)</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>%1 · what fits only</source>
        <translation>%1 · seulement ce qui tient</translation>
    </message>
</context>
<context>
    <name>ui::FitChart</name>
    <message>
        <source>Memory over context, a line for each precision</source>
        <translation>Mémoire selon le contexte, une ligne par précision</translation>
    </message>
    <message>
        <source>%1, %2 tokens: %3</source>
        <translation>%1, %2 jetons : %3</translation>
    </message>
    <message>
        <source>The first points are being planned …</source>
        <translation>Les premiers points sont en cours de calcul…</translation>
    </message>
    <message>
        <source>tokens of context</source>
        <translation>jetons de contexte</translation>
    </message>
    <message>
        <source>%1: %2 usable</source>
        <translation>%1 : %2 utilisables</translation>
    </message>
    <message>
        <source>%1 tokens: %2</source>
        <translation>%1 jetons : %2</translation>
    </message>
    <message>
        <source>KV cache in 8 bits</source>
        <translation>Cache KV en 8 bits</translation>
    </message>
</context>
<context>
    <name>ui::FitGrid</name>
    <message>
        <source>%1 · KV 8 bits</source>
        <translation>%1 · KV 8 bits</translation>
    </message>
    <message>
        <source>%1 · KV 16 bits</source>
        <translation>%1 · KV 16 bits</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>ne tient pas</translation>
    </message>
    <message>
        <source>about %1 tokens/s</source>
        <translation>environ %1 jetons/s</translation>
    </message>
</context>
<context>
    <name>ui::FitPage</name>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Carte graphique</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Cet ordinateur</translation>
    </message>
    <message>
        <source>Copy as &amp;picture</source>
        <translation>Copier en &amp;image</translation>
    </message>
    <message>
        <source>Copy as &amp;CSV</source>
        <translation>Copier en &amp;CSV</translation>
    </message>
    <message>
        <source>The picture is in the clipboard</source>
        <translation>L’image est dans le presse-papiers</translation>
    </message>
    <message numerus="yes">
        <source>%n points are in the clipboard</source>
        <translation>
            <numerusform>%n point est dans le presse-papiers</numerusform>
            <numerusform>%n points sont dans le presse-papiers</numerusform>
        </translation>
    </message>
    <message>
        <source>Precisions</source>
        <translation>Précisions</translation>
    </message>
    <message>
        <source>&amp;Make this plan</source>
        <translation>&amp;Faire ce plan</translation>
    </message>
    <message>
        <source>%1 on %2</source>
        <translation>%1 sur %2</translation>
    </message>
    <message>
        <source>%1 (not fetched)</source>
        <translation>%1 (non téléchargé)</translation>
    </message>
    <message>
        <source>none</source>
        <translation>aucun</translation>
    </message>
    <message>
        <source>KV 8 bits: %1</source>
        <translation>KV 8 bits : %1</translation>
    </message>
    <message>
        <source>KV 16 bits: %1</source>
        <translation>KV 16 bits : %1</translation>
    </message>
    <message>
        <source>%1 % same token</source>
        <translation>%1 % de jetons identiques</translation>
    </message>
    <message>
        <source>Choose a model.</source>
        <translation>Choisissez un modèle.</translation>
    </message>
    <message>
        <source>Reading the headers of %1 …</source>
        <translation>Lecture des en-têtes de %1…</translation>
    </message>
    <message numerus="yes">
        <source>Planning from the headers of the files: %n points so far.</source>
        <translation>
            <numerusform>Calcul d’après les en-têtes des fichiers : %n point jusqu’ici.</numerusform>
            <numerusform>Calcul d’après les en-têtes des fichiers : %n points jusqu’ici.</numerusform>
        </translation>
    </message>
    <message>
        <source>Full points have room on the card, rings need main memory as well, crosses do not fit. Broken lines: KV cache in 8 bits. A click makes that plan.</source>
        <translation>Les points pleins tiennent sur la carte, les anneaux demandent aussi de la mémoire vive, les croix ne tiennent pas. En tirets : cache KV en 8 bits. Un clic en fait le plan.</translation>
    </message>
    <message>
        <source>Belfry does not compute on such a card: no speed is told.</source>
        <translation>Belfry ne calcule pas sur une telle carte : aucune vitesse n’est donnée.</translation>
    </message>
    <message>
        <source>Point at the drawing, or go through it with the arrow keys.</source>
        <translation>Pointez le dessin, ou parcourez-le avec les flèches.</translation>
    </message>
    <message>
        <source>%1 · %2 tokens</source>
        <translation>%1 · %2 jetons</translation>
    </message>
    <message>
        <source>Fits: about %1 tokens/s (estimated)</source>
        <translation>Tient : environ %1 jetons/s (estimation)</translation>
    </message>
    <message>
        <source>Fits.</source>
        <translation>Tient.</translation>
    </message>
    <message>
        <source>Fits with %1 elsewhere: about %2 tokens/s (estimated)</source>
        <translation>Tient avec %1 ailleurs : environ %2 jetons/s (estimation)</translation>
    </message>
    <message>
        <source>Fits with %1 elsewhere.</source>
        <translation>Tient avec %1 ailleurs.</translation>
    </message>
    <message>
        <source>Does not fit, also with parts in main memory.</source>
        <translation>Ne tient pas, même avec des parties en mémoire vive.</translation>
    </message>
    <message>
        <source>Measured beside 16 bits: %1 % same token, KL %2 (%3)</source>
        <translation>Mesuré à côté de 16 bits : %1 % de jetons identiques, KL %2 (%3)</translation>
    </message>
    <message>
        <source>together, of %1</source>
        <translation>en tout, sur %1</translation>
    </message>
    <message>
        <source>With the longest context that has room on the card, and what was measured beside 16 bits</source>
        <translation>Avec le plus long contexte qui tient sur la carte, et ce qui a été mesuré à côté de 16 bits</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>poids</translation>
    </message>
    <message>
        <source>copies of experts</source>
        <translation>copies d’experts</translation>
    </message>
    <message>
        <source>the same memory as %1</source>
        <translation>la même mémoire que %1</translation>
    </message>
    <message>
        <source>That was with the KV cache in 16 bits.</source>
        <translation>C’était avec le cache KV en 16 bits.</translation>
    </message>
</context>
</TS>

"""The networks of ``keras.applications``, one file each, drawn as Keras draws them: every layer under its name, in Keras' order."""
